#define ABSTAIN_LANES v2
#define ABSTAIN_VECTOR_BYTES 16
#define ABSTAIN_TILE_VECTORS 2
#include "lanes_body.hpp"
