"""Where the files of tests lie: the project's own corpus, and a larger one beside the repository that only adds to it."""

import pytest
from corpus import BESIDE, HAS_MORE, OWN

PARTS = ("dev/*/*", "dev42/*/*", "run/*/*", "errors/*.visaasm")


@pytest.mark.corpus
@pytest.mark.skipif(not HAS_MORE, reason=f"no corpus beside the repository at {BESIDE}")
@pytest.mark.parametrize("part", PARTS)
def test_no_name_has_two_places(part):
    own, more = ({path.relative_to(root) for path in root.glob(part)} for root in (OWN, BESIDE))
    assert own
    assert more
    assert own & more == set()
