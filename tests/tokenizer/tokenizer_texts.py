"""Texts to encode: what people write, and what breaks tokenizers."""

import random
import sysconfig
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

# A sentence or two in many scripts, written for these tests.
MULTILINGUAL = """\
The kettle's whistling; we'll pour the tea, you've earned it. I'M sure THEY'RE late, he'd say.
Der Schlüssel lag unter der Fußmatte, wo ihn niemand übersah. Straßenbahnen fahren bis 23:45 Uhr.
L'été dernier, j'ai goûté des crêpes à Saint-Malo ; c'était délicieux, n'est-ce pas ?
¿Dónde está la panadería? Mañana compraré 3 kg de ñoquis por 12,50 €.
Широкая река медленно текла к морю, и 17 лодок качались у пристани.
Ο φούρνος άνοιγε στις έξι, και η μυρωδιά του ψωμιού γέμιζε τον δρόμο.
כשהגשם פסק, הילדים רצו אל הגינה. השעה הייתה 16:20.
عندما هدأت الريح خرج الصيادون إلى البحر، وكان عددهم ٢٤ رجلاً.
नदी के किनारे एक पुराना पेड़ था जिसकी छाया में १२ लोग बैठ सकते थे।
ในตลาดเช้ามีผลไม้หลายชนิด ราคาไม่แพงและอร่อยมาก
下雨的时候，老人坐在窗边看书，茶凉了三次。价格是128元。
雨の日は図書館で本を読むのが好きです。カタカナとひらがな、漢字も混ざる。
비가 그치자 아이들은 공원으로 달려갔다. 시간은 오후 3시 30분이었다.
Mưa tạnh rồi, bọn trẻ chạy ra sân; đã 5 giờ chiều.
👩‍👩‍👧‍👦 went to 🇫🇷 with 👍🏽 and ❤️‍🔥, paid ½ of ²⁄₃, read Ⅷ pages — ok…
def f(x):\r\n\treturn {'a': x[0], "b": -1.5e-3}  # comment\r\n\r\n\r\n<p class="x">&nbsp;</p>
"""

# Each stands for a rule of some pattern, or for a bug that some tokenizer had.
AWKWARD = [
    *(" ", "  ", "   ", "\t", "\n", "\n\n", "\r", "\r\n", " \n", "\n ", "\t\n \r", "\v", "\f"),
    *("\u0085", "\u00a0", "\u1680", "\u2003", "\u2028", "\u3000", "\u200b", "\ufeff", "\u180e"),
    *("'s", "'S", "'t", "'T", "'re", "'RE", "'rE", "'ve", "'Ve", "'m", "'M", "'ll", "'LL", "'lL"),
    *("'d", "'D", "'", "''", "'ſ", "'ſs", "\u2019s", "'ll'd", " 's", "'é", "'x", "don't", "l'"),
    *("a", "A", "s", "S", "ſ", "K", "ı", "İ", "ß", "ẞ", "ﬁ", "ﬅ", "é", "e\u0301", "ǅ", "ǅa"),
    *(
        "ʰ",
        "ª",
        "ʻ",
        "Ж",
        "ж",
        "ͅ",
        "中",
        "文字",
        "の",
        "カ",
        "한",
        "ᄒ\u1161",
        "ไ",
        "שׁ",
        "ع",
        "𝔸",
        "𝐚",
    ),
    *("camelCase", "XMLHttp", "HELLOworld", "aB", "Ab", "ABc", "ABC", "ǅABC", "aʰB", "中A", "A中a"),
    *(
        "\u0301",
        "\u0903",
        "\u20dd",
        "\ufe0f",
        "\u200d",
        "\u0301a",
        "A\u0301B",
        " \u0301",
        "!\u0301/",
    ),
    *("1", "12", "123", "1234", "1a", "٣", "१२३४", "²", "½", "Ⅷ", "①", "𝟘𝟙", "零"),
    *(
        "!",
        "?!",
        "...",
        "/",
        "//",
        "/\n",
        "\n/",
        "!/\r\n/",
        "_",
        "__x",
        "-",
        "—",
        "。",
        "、",
        "€",
        "\\",
    ),
    *("😀", "👩‍👩‍👧", "👍🏽", "🇫🇷", "❤️", "\0", "\0\0", "\x7f", "\x1c", "\ue000"),
    *("\ud7ff", "\ue001", "\ufffd", "\ufffe", "\uffff", "\U00010000", "\U0010ffff", "\u0378"),
    *(".data", " Japón", "Karadžić", "ἐνθάδ᾽ ἵξομαι", "A, naïve", "overwrite", "metasys"),
    *("<|", "|>", "<|endoftext", "<|endoftext|>", "<|endof", "text|>"),
]

END_OF_TEXT = "<|endoftext|>"


def any_text() -> st.SearchStrategy[str]:
    """Random Unicode, and the awkward pieces in random order, some of them many times over."""
    unicode = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
    piece = st.sampled_from(AWKWARD)
    repeated = st.builds(lambda text, times: text * times, piece, st.integers(1, 40))
    pieces = st.lists(st.one_of(piece, piece, piece, repeated, unicode), max_size=16)
    return st.one_of(unicode, pieces.map("".join))


def ordinary_text() -> st.SearchStrategy[str]:
    """Any text but one with a special token, which Hugging Face always takes for one."""
    return any_text().map(lambda text: text.replace(END_OF_TEXT, ""))


@cache
def library_files(megabytes: float = 1.0) -> tuple[Path, ...]:
    """Sources of the standard library, about so many MB of them; every machine has these."""
    folder = Path(sysconfig.get_path("stdlib"))
    files: list[Path] = []
    size = 0
    for path in sorted(folder.glob("*.py")):
        if size >= megabytes * 1e6:
            break
        files.append(path)
        size += path.stat().st_size
    return tuple(files)


def random_words(seed: int, letters: str, words: int, longest: int = 8) -> str:
    """Words of random letters; pairs often occur equally often, so that ties must be broken."""
    choose = random.Random(seed)
    lengths = (choose.randint(1, longest) for _ in range(words))
    return " ".join("".join(choose.choices(letters, k=length)) for length in lengths)
