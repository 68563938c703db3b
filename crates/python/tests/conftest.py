import pytest

import consonant


@pytest.fixture(scope="session")
def nlp():
    return consonant.load()


def tree_bank(count):
    """Small trees: who does what, with tags."""
    people, verbs, things = ["Ann", "Bob", "Eve"], ["sees", "likes", "buys"], ["dogs", "cats", "books"]
    blocks = []
    for i in range(count):
        who, does, what = people[i % 3], verbs[(i // 3) % 3], things[(i // 2) % 3]
        blocks.append(
            f"# text = {who} {does} {what}.\n"
            f"1\t{who}\t{who}\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\tNER=B-PER\n"
            f"2\t{does}\t{does[:-1]}\tVERB\tVBZ\tNumber=Sing\t0\troot\t_\t_\n"
            f"3\t{what}\t{what[:-1]}\tNOUN\tNNS\tNumber=Plur\t2\tobj\t_\tSpaceAfter=No\n"
            f"4\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
        )
    return "".join(blocks)


@pytest.fixture(scope="session")
def trees(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "trees.conllu"
    path.write_text(tree_bank(18), encoding="utf-8")
    return path
