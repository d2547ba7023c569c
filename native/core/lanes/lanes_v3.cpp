#define ABSTAIN_LANES v3
#define ABSTAIN_VECTOR_BYTES 32
#define ABSTAIN_TILE_VECTORS 2
#include "lanes_body.hpp"
