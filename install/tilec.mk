# Rules for Make: NAME.tile gives NAME.o and NAME.h.
#
#   include /usr/local/share/tilec/tilec.mk     # pkg-config --variable=makefile tilec
#   program: main.o gemm.o
#   main.o: gemm.h
#
# TILEC is the compiler, TILEFLAGS its options. The files that a source imports are tracked in NAME.o.d.
TILEC ?= tilec
TILEFLAGS ?=

%.o: %.tile
	"$(TILEC)" compile $(TILEFLAGS) -o $@ --header $*.h -MD -MP -MF $@.d -MT $@ $<

# A header whose text did not change keeps its time stamp.
%.h: %.o
	@test -f $@ || { rm -f $< && $(MAKE) $<; }

# What the first target is stays the including file's choice.
tilec_goal := $(.DEFAULT_GOAL)
-include $(wildcard *.o.d)
.DEFAULT_GOAL := $(tilec_goal)
