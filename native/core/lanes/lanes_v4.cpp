#define ABSTAIN_LANES v4
#define ABSTAIN_VECTOR_BYTES 64
#define ABSTAIN_TILE_VECTORS 4
#include "lanes_body.hpp"
