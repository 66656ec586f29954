"""The food mini-app, driven by touch: from the host's list to an order, with a coupon, a new address and a PIN."""

from __future__ import annotations

import json

from phoneworld.render.browser import Browser
from phoneworld.ui.geometry import Size
from tests.webapps import ROOT, served


def test_an_order_goes_from_the_menu_to_delivery() -> None:
    troubles: list[str] = []
    with served(ROOT / "examples" / "webapps" / "food") as url, Browser.launch() as browser:
        page = browser.page(Size(360, 760), mobile=True, touch=True)
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.goto(url)

        page.tap("#open-fandian")
        page.tap("#kind-noodles")
        page.tap("#shop-1")
        assert page.is_disabled("#checkout")
        page.tap("#choose-1")
        page.tap("label[for=pick-0-1]")
        assert page.inner_text("#dish-sum") == "¥27"
        page.tap("#add-dish")
        page.tap("#category-1")
        page.tap("#more-dish-5")
        assert page.inner_text("#cart-sum") == "¥30"
        page.tap("#checkout")
        assert page.inner_text("#bill-total") == "¥35"
        page.tap("#confirm-coupon")
        assert page.is_disabled("#use-3") and page.inner_text("#coupon-3-problem") == "还差 ¥50 more needed"
        page.tap("#use-1")
        page.wait_for_selector("#bill-total")
        assert page.inner_text("#bill-total") == "¥27"

        page.tap("#confirm-address")
        page.tap("#add-address")
        page.fill("#form-name", "Bo Lindgren")
        page.fill("#form-phone", "12345")
        page.tap("#save-address")
        assert page.inner_text("#form-phone-error") == "手机号为 11 位，以 1 开头 Eleven digits, the first is 1"
        page.fill("#form-phone", "13900001111")
        page.fill("#form-area", "Lotus Court")
        page.fill("#form-detail", "2-301")
        page.tap("#save-address")
        page.tap("#address-3")

        page.tap("#submit-order")
        for _ in range(6):
            page.tap("#key-0")
        assert page.inner_text("#pin-error") == "密码过于简单 This PIN is too simple"
        page.go_back()
        page.tap("#submit-order")
        for digit in "271828":
            page.tap(f"#key-{digit}")
        for _ in range(4):
            page.tap("#next-step")
        assert page.inner_text("#order-state") == "已送达 Delivered"
        page.reload()
        assert page.inner_text("#order-total") == "¥27"
        page.go_back()
        assert page.inner_text("#cart-sum") == "未选购 Empty"

        order = json.loads(page.evaluate("localStorage['food.orders']"))[-1]
        assert {key: order[key] for key in ("id", "shopId", "couponId", "off", "addressId", "where", "step")} == {
            "id": 2, "shopId": 1, "couponId": 1, "off": 800, "addressId": 3, "where": "Lotus Court 2-301", "step": 4,
        }  # fmt: skip
        assert json.loads(page.evaluate("localStorage['food.coupons']"))[0]["state"] == "used"
        assert json.loads(page.evaluate("localStorage['food.cart']")) == []
        page.context.close()
    assert troubles == []
