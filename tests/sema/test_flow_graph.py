from visa_lsp.sema.bind import bind
from visa_lsp.sema.flow import flow_of
from visa_lsp.syntax.document import Document

HEAD = '.version 4.1\n.kernel "k"\n.decl A v_type=G type=d num_elts=16\n.decl P1 v_type=P num_elts=16\n'
MOVE = "    mov (M1, 16) A(0,0)<1> A(0,0)<1;1,0>\n"


def edges(code: str) -> list[str]:
    [body] = bind(Document.parse(HEAD + code)).bodies
    flow = flow_of(body)
    assert sorted(b.line for block in flow.blocks for b in block.code) == [b.line for b in body.code]
    return [f"{e.source}-{e.target} {e.kind.name.lower()} {e.condition}".strip() for e in flow.edges]


def test_a_loop_has_an_edge_back_and_one_out():
    code = f"L:\n{MOVE}    (P1) goto (M1, 16) L\n    ret (M1, 1)\n"
    assert edges(code) == ["0-0 back P1", "0-1 fall !(P1)"]


def test_jumps_returns_and_calls():
    code = f'    (P1) jmp (M1, 1) L\n    call (M1, 16) S\n    ret (M1, 1)\nL:\n{MOVE}    ret (M1, 1)\n.function "S"\nS:\n{MOVE}    ret (M1, 16)\n'
    assert edges(code) == ["0-1 fall !(P1)", "0-2 branch P1", "1-3 call"]


def test_switch_leads_to_every_label():
    code = f"    switchjmp (1) A(0,0)<0;1,0> (X, Y)\nX:\n{MOVE}Y:\n    ret (M1, 1)\n"
    assert edges(code) == ["0-1 branch", "0-2 branch", "1-2 fall"]


def test_structured_words_of_the_appendix():
    code = f"    (P1) if (M1, 16)\n{MOVE}    else (M1, 16)\n{MOVE}    endif (M1, 16)\n    ret (M1, 1)\n"
    assert edges(code) == ["0-1 fall", "0-2 branch P1", "1-3 branch", "2-3 fall"]


def test_code_behind_a_return_is_not_reached():
    [body] = bind(Document.parse(f"{HEAD}    ret (M1, 1)\n{MOVE}    ret (M1, 1)\n")).bodies
    assert flow_of(body).reachable() == {0}
