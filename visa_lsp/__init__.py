"""visa-lsp: language server, assembler, disassembler and simulator for vISA."""

__version__ = "0.1.0"
