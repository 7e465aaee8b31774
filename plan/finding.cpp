#include "plan/finding.h"
