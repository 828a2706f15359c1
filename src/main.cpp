#include "driver/driver.h"

int main(int argc, char** argv) { return tilec::run_driver(argc, argv); }
