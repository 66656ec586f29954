"""What an explorer does not touch by itself: the words that pay, call, send, uninstall, delete an account or log out.

The table is data: a kind, a language, the words. A word is looked for in what the node says of itself (text, description,
hint, resource id), in the words inside it, and, where the node only says "OK", in the words of the dialog around it.
It errs towards leaving things alone: a note called "Call the dentist" is not opened either. `--allow` lifts it by kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, get_args

from phoneworld.errors import OptionError
from phoneworld.ui.geometry import Size
from phoneworld.ui.node import Hierarchy, Node, Path
from phoneworld.ui.selector import Selector, find

Kind = Literal["pay", "call", "send", "uninstall", "delete-account", "logout"]
Forbidden = Kind | Literal["avoid"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# fmt: off
WORDS: Mapping[Kind, Mapping[str, tuple[str, ...]]] = {
    "pay": {
        "en": ("pay", "pay now", "payment", "buy", "buy now", "purchase", "place order", "order now", "checkout", "check out", "subscribe",
               "donate", "top up", "recharge", "transfer money", "withdraw", "place bid", "book now"),
        "zh": ("支付", "付款", "购买", "購買", "立即购买", "下单", "下單", "结算", "結算", "结账", "結帳", "充值", "转账", "轉帳", "提现", "打赏", "订阅", "訂閱", "买单"),
        "es": ("pagar", "comprar", "suscribirse", "donar", "realizar pedido", "transferir"),
        "fr": ("payer", "acheter", "commander", "s'abonner", "faire un don", "régler"),
        "de": ("bezahlen", "zahlen", "kaufen", "jetzt kaufen", "bestellen", "abonnieren", "spenden", "überweisen", "kasse"),
        "pt": ("pagar", "comprar", "assinar", "doar", "finalizar pedido", "transferir"),
        "it": ("paga", "pagare", "acquista", "compra", "ordina", "abbonati", "dona"),
        "ru": ("оплатить", "купить", "заказать", "оформить заказ", "подписаться", "пожертвовать", "перевести"),
        "ja": ("支払", "購入", "注文", "決済", "課金", "送金", "チャージ", "寄付"),
        "ko": ("결제", "구매", "주문", "송금", "충전하기", "후원"),
        "ar": ("ادفع", "دفع", "شراء", "اشتر", "تبرع"),
        "hi": ("भुगतान", "खरीदें", "ऑर्डर करें"),
        "id": ("bayar", "beli", "pesan sekarang", "langganan", "donasi"),
        "tr": ("öde", "satın al", "sipariş ver", "abone ol", "bağış yap"),
        "vi": ("thanh toán", "mua", "mua ngay", "đặt hàng", "nạp tiền", "chuyển tiền"),
        "th": ("ชำระเงิน", "ซื้อ", "สั่งซื้อ", "โอนเงิน"),
    },
    "call": {
        "en": ("call", "dial", "voice call", "video call", "redial", "emergency", "sos"),
        "zh": ("拨打", "撥打", "打电话", "打電話", "呼叫", "语音通话", "视频通话", "通话", "紧急呼救"),
        "es": ("llamar", "videollamada", "marcar", "emergencia"),
        "fr": ("appeler", "appel", "appel vidéo", "composer", "urgence"),
        "de": ("anrufen", "anruf", "videoanruf", "notruf", "wählen"),
        "pt": ("ligar", "chamada", "discar", "emergência"),
        "it": ("chiama", "chiamata", "videochiamata", "emergenza"),
        "ru": ("позвонить", "звонок", "вызов", "набрать"),
        "ja": ("電話をかける", "発信", "通話", "緊急通報"),
        "ko": ("전화 걸기", "통화", "긴급"),
        "ar": ("اتصال", "اتصل"),
        "hi": ("कॉल करें", "कॉल"),
        "id": ("panggil", "telepon", "panggilan"),
        "tr": ("ara", "arama yap", "görüntülü arama"),
        "vi": ("gọi", "gọi điện", "cuộc gọi"),
        "th": ("โทร", "โทรออก"),
    },
    "send": {
        "en": ("send", "send message", "send sms", "post", "publish", "tweet", "reply all", "forward message", "invite", "report abuse"),
        "zh": ("发送", "發送", "发布", "發佈", "发表", "發表", "发帖", "群发", "邀请好友", "投稿"),
        "es": ("enviar", "publicar", "invitar"),
        "fr": ("envoyer", "publier", "inviter"),
        "de": ("senden", "absenden", "abschicken", "veröffentlichen", "posten", "einladen"),
        "pt": ("enviar", "publicar", "postar", "convidar"),
        "it": ("invia", "pubblica", "invita"),
        "ru": ("отправить", "опубликовать", "пригласить"),
        "ja": ("送信", "投稿", "公開する", "招待"),
        "ko": ("보내기", "전송", "게시", "초대"),
        "ar": ("إرسال", "ارسل", "نشر", "دعوة"),
        "hi": ("भेजें", "पोस्ट करें"),
        "id": ("kirim", "posting", "terbitkan", "undang"),
        "tr": ("gönder", "yayınla", "paylaş", "davet et"),
        "vi": ("gửi", "đăng", "đăng bài", "mời"),
        "th": ("ส่ง", "โพสต์", "เผยแพร่"),
    },
    "uninstall": {
        "en": ("uninstall", "remove app", "factory reset", "erase all data", "erase everything", "reset phone"),
        "zh": ("卸载", "解除安裝", "移除应用", "恢复出厂设置", "清除所有数据"),
        "es": ("desinstalar", "restablecer de fábrica", "borrar todos los datos"),
        "fr": ("désinstaller", "rétablir la configuration d'usine"),
        "de": ("deinstallieren", "auf werkseinstellungen zurücksetzen", "werkseinstellungen"),
        "pt": ("desinstalar", "redefinir de fábrica"),
        "it": ("disinstalla", "ripristino dati di fabbrica"),
        "ru": ("удалить приложение", "сброс к заводским настройкам"),
        "ja": ("アンインストール", "初期化", "出荷時"),
        "ko": ("제거하기", "앱 삭제", "초기화"),
        "ar": ("إلغاء التثبيت", "إعادة ضبط المصنع"),
        "hi": ("अनइंस्टॉल",),
        "id": ("copot pemasangan", "uninstal", "setel ulang pabrik"),
        "tr": ("kaldır", "fabrika ayarlarına"),
        "vi": ("gỡ cài đặt", "khôi phục cài đặt gốc"),
        "th": ("ถอนการติดตั้ง", "รีเซ็ตเป็นค่าจากโรงงาน"),
    },
    "delete-account": {
        "en": ("delete account", "delete my account", "delete profile", "close account", "close my account", "deactivate", "deactivate account",
               "remove account", "cancel membership"),
        "zh": ("注销账号", "注销账户", "注销帐号", "註銷帳號", "删除账号", "删除账户", "刪除帳號", "永久注销"),
        "es": ("eliminar cuenta", "eliminar mi cuenta", "borrar cuenta", "cerrar cuenta"),
        "fr": ("supprimer le compte", "supprimer mon compte", "désactiver le compte"),
        "de": ("konto löschen", "account löschen", "konto schließen", "konto entfernen"),
        "pt": ("excluir conta", "apagar conta", "encerrar conta"),
        "it": ("elimina account", "elimina il mio account", "chiudi account"),
        "ru": ("удалить аккаунт", "удалить учётную запись", "удалить учетную запись"),
        "ja": ("アカウントを削除", "アカウント削除", "退会"),
        "ko": ("계정 삭제", "회원 탈퇴", "탈퇴하기"),
        "ar": ("حذف الحساب", "إغلاق الحساب"),
        "hi": ("खाता हटाएं", "खाता मिटाएं"),
        "id": ("hapus akun", "tutup akun"),
        "tr": ("hesabı sil", "hesabımı sil"),
        "vi": ("xóa tài khoản", "xoá tài khoản"),
        "th": ("ลบบัญชี",),
    },
    "logout": {
        "en": ("log out", "logout", "log off", "sign out", "signout", "switch account", "disconnect account"),
        "zh": ("退出登录", "退出登錄", "登出", "退出账号", "退出当前账号", "切换账号", "安全退出"),
        "es": ("cerrar sesión", "salir de la cuenta"),
        "fr": ("se déconnecter", "déconnexion"),
        "de": ("abmelden", "ausloggen"),
        "pt": ("sair da conta", "terminar sessão", "encerrar sessão", "desconectar"),
        "it": ("esci dall'account", "disconnetti", "disconnettersi"),
        "ru": ("выйти из аккаунта", "выйти", "разлогиниться"),
        "ja": ("ログアウト", "サインアウト"),
        "ko": ("로그아웃",),
        "ar": ("تسجيل الخروج",),
        "hi": ("लॉग आउट", "साइन आउट"),
        "id": ("keluar dari akun", "logout"),
        "tr": ("oturumu kapat", "çıkış yap"),
        "vi": ("đăng xuất",),
        "th": ("ออกจากระบบ",),
    },
}

NEGATIVE = (  # the way out of a dialog, whatever it asks
    "cancel", "no", "not now", "later", "back", "close", "dismiss", "keep", "don't", "deny", "skip",
    "取消", "否", "返回", "关闭", "關閉", "稍后", "以后再说", "不允许", "拒绝",
    "cancelar", "ahora no", "cerrar", "annuler", "non", "fermer", "plus tard", "abbrechen", "nein", "schließen", "später", "zurück",
    "agora não", "fechar", "não", "annulla", "chiudi", "отмена", "нет", "закрыть", "назад", "キャンセル", "いいえ", "閉じる", "戻る",
    "취소", "아니요", "닫기", "إلغاء", "لا", "रद्द करें", "नहीं", "batal", "tidak", "tutup", "iptal", "hayır", "kapat", "hủy", "không", "đóng",
    "ยกเลิก", "ไม่", "ปิด",
)
AFFIRMATIVE = (  # says nothing by itself: what it does is written beside it
    "ok", "okay", "yes", "confirm", "continue", "agree", "accept", "proceed", "submit", "done", "next", "delete", "remove", "allow",
    "确定", "确认", "確定", "確認", "是", "同意", "继续", "提交", "下一步", "aceptar", "sí", "confirmar", "continuar", "oui", "d'accord", "confirmer", "continuer",
    "ja", "bestätigen", "weiter", "sim", "sì", "conferma", "continua", "да", "ок", "подтвердить", "продолжить", "はい", "次へ", "同意する",
    "확인", "예", "동의", "نعم", "موافق", "تأكيد", "हाँ", "ठीक", "ya", "lanjutkan", "evet", "tamam", "onayla", "devam", "có", "đồng ý", "xác nhận",
    "ตกลง", "ยืนยัน", "ใช่",
)
MESSAGE_FIELDS = (  # Enter in such a field sends what was typed
    "message", "type a message", "write a message", "reply", "comment", "add a comment", "chat", "composer", "sms",
    "发消息", "输入消息", "评论", "回复", "说点什么", "mensaje", "nachricht", "mensagem", "messaggio", "сообщение", "メッセージ", "コメント", "메시지", "댓글",
)
# fmt: on

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_ID_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DIALOG_IDS = frozenset({"alertTitle", "parentPanel", "buttonPanel", "permission_message"})
_NEAR_LABELS = 8


def parse_allow(given: Iterable[str]) -> frozenset[Kind]:
    """The kinds that `--allow` names: `all`, or kinds separated by commas. Raises OptionError for an unknown kind."""
    allowed: set[Kind] = set()
    for name in (part.strip() for text in given for part in text.split(",")):
        if name == "all":
            return frozenset(KINDS)
        known = next((kind for kind in KINDS if kind == name), None)
        if known is None and name:
            raise OptionError(f"--allow does not know {name!r}", hint="one of all, " + ", ".join(KINDS))
        if known is not None:
            allowed.add(known)
    return frozenset(allowed)


@dataclass(frozen=True, slots=True)
class Guard:
    """Says what must be left alone on a screen. `allow` holds the kinds that are let through, `avoid` further widgets not to touch."""

    allow: frozenset[Kind] = frozenset()
    avoid: tuple[Selector, ...] = ()

    def forbids(self, hierarchy: Hierarchy, path: Path, viewport: Size) -> Forbidden | None:
        """Why the node must not be tapped or pressed, None where it may be. Giving a field the focus is harmless, unless it is avoided."""
        if self._avoids(hierarchy, path):
            return "avoid"
        node = hierarchy.at(path)
        if node.is_editable:
            return None
        own = _said(node) + [text for child in _loose(node) for text in _said(child)]
        if kind := self._kind_of(own):
            return kind
        if any(_matches(text, NEGATIVE) for text in own):
            return None
        return self._kind_of(_asked_around(hierarchy, path, viewport, own))

    def forbids_enter(self, hierarchy: Hierarchy, field: Path, viewport: Size) -> Kind | None:
        """Why Enter must not be pressed in a field, None where it may be."""
        node = hierarchy.at(field)
        if "send" not in self.allow and any(_matches(text, MESSAGE_FIELDS) for text in _said(node)):
            return "send"
        return self._kind_of(_asked_around(hierarchy, field, viewport, []))

    def _avoids(self, hierarchy: Hierarchy, path: Path) -> bool:
        """True for a named widget, for what is inside it, and for the row around a named label."""
        named = {found for selector in self.avoid for found in find(hierarchy, selector)}
        if not named:
            return False
        inside = [hierarchy.at(n) for n in named if n[: len(path)] == path]
        return any(path[: len(n)] == n for n in named) or any(n is loose for n in inside for loose in _loose(hierarchy.at(path)))

    def _kind_of(self, texts: Iterable[str]) -> Kind | None:
        return next((kind for text in texts for kind in kinds_in(text) if kind not in self.allow), None)


@lru_cache(maxsize=8192)
def kinds_in(text: str) -> tuple[Kind, ...]:
    """What the words of a text would do, by the table, in the order of the table."""
    return tuple(kind for kind in KINDS if _matches(text, _of_all_languages(kind)))


@cache
def _of_all_languages(kind: Kind) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for words in WORDS[kind].values() for word in words))


def _said(node: Node) -> list[str]:
    """What a node says of itself; what a person typed into a field is not a word of the app."""
    texts = [
        node.content_desc,
        node.hint or "",
        "" if node.is_editable else node.text,
        " ".join(_ID_WORDS.findall(node.resource_id.rpartition("/")[2])),
    ]
    return [text for text in texts if text]


def _loose(node: Node) -> list[Node]:
    """The visible nodes inside a node, but for other things to touch and what is inside those."""
    found: list[Node] = []
    stack = list(node.children)
    while stack:
        child = stack.pop()
        if child.visible and not child.takes("tap"):
            found.append(child)
            stack.extend(child.children)
    return found


def _asked_around(hierarchy: Hierarchy, path: Path, viewport: Size, own: list[str]) -> list[str]:
    """What the dialog around a button asks, or, around a bare "OK" or "Yes", the small panel; else nothing."""
    region = _dialog_of(hierarchy, path, viewport)
    if region is None and any(_matches(text, AFFIRMATIVE) for text in own):
        region = _panel_of(hierarchy, path)
    if region is None:
        return []
    return [text for node in (region, *_loose(region)) for text in _said(node)]


def _dialog_of(hierarchy: Hierarchy, path: Path, viewport: Size) -> Node | None:
    chain = hierarchy.chain(path)
    for node in reversed(chain[:-1]):
        if node.class_name.endswith("Dialog") or _name(node) in _DIALOG_IDS:
            # The panel of the buttons is only a part of its dialog: the title stands beside it.
            return node if node.class_name.endswith("Dialog") else chain[0]
    window = chain[0]
    is_small = window.bounds.area * 10 < viewport.bounds.area * 9
    if is_small or any(_name(node) in _DIALOG_IDS for node in _loose(window)):
        return window
    return None


def _panel_of(hierarchy: Hierarchy, path: Path) -> Node | None:
    """The largest surrounding part that holds few words: a confirmation that is no dialog to Android."""
    panel: Node | None = None
    for node in reversed(hierarchy.chain(path)[:-1]):
        if node.scrollable or sum(bool(other.label) for other in _loose(node)) > _NEAR_LABELS:
            break
        panel = node
    return panel


def _name(node: Node) -> str:
    return node.resource_id.rpartition("/")[2]


@cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Whole words in scripts with spaces; anywhere in a text in scripts without."""
    folded = sorted((_folded(w) for w in words), key=len, reverse=True)
    return re.compile("|".join(re.escape(w) if _UNSPACED.search(w) else rf"(?<!\w){re.escape(w)}(?!\w)" for w in folded))


def _folded(text: str) -> str:
    """For comparing: "ß" is "ss", the two Turkish letters i are one, a curly apostrophe is a straight one."""
    return text.casefold().replace("\u0307", "").replace("ı", "i").replace("’", "'")


def _matches(text: str, words: tuple[str, ...]) -> bool:
    return _pattern(words).search(_folded(text)) is not None
