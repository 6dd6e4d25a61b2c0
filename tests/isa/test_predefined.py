"""What the specification says of predefined variables: which are read, written, and have aliases."""

from visa_lsp.isa.predefined import VARIABLES


def names(flag: str) -> str:
    return " ".join(variable.name.removeprefix("%") for variable in VARIABLES if getattr(variable, flag))


def test_flags_are_those_of_the_specification() -> None:
    assert names("writable") == "tsc arg retval sp fp sr0 cr0 dbg0 impl_arg_buf_ptr local_id_buf_ptr"
    assert names("aliasable") == "r0 arg retval sp fp hw_id sr0 impl_arg_buf_ptr local_id_buf_ptr"
    assert {variable.name for variable in VARIABLES if not variable.readable} == {"%null"}
