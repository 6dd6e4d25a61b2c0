"""Facts of the specification that no row derives: flags of predefined variables, bits and widths of words."""

from visa_lsp.isa.predefined import VARIABLES
from visa_lsp.isa.render_target import MODE_WORDS
from visa_lsp.isa.rows.matrix import PRECISION_BITS, PRECISIONS


def names(flag: str) -> str:
    return " ".join(variable.name.removeprefix("%") for variable in VARIABLES if getattr(variable, flag))


def test_flags_are_those_of_the_specification() -> None:
    assert names("writable") == "tsc arg retval sp fp sr0 cr0 dbg0 impl_arg_buf_ptr local_id_buf_ptr"
    assert names("aliasable") == "r0 arg retval sp fp hw_id sr0 impl_arg_buf_ptr local_id_buf_ptr"
    assert {variable.name for variable in VARIABLES if not variable.readable} == {"%null"}


def test_each_word_of_a_render_target_write_is_a_bit_of_its_own() -> None:
    assert list(MODE_WORDS.values()) == [1 << bit for bit in range(2, 13)]


def test_precisions_are_as_wide_as_their_names_say() -> None:
    others = {"bf": 16, "hf": 16, "e2m1": 4}
    for word, code in PRECISIONS.items():
        assert PRECISION_BITS[code] == others.get(word, int(word.lstrip("usbhtf") or 0) if word not in others else 0), (
            word
        )
