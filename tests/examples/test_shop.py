"""The shop: from the catalogue to a placed order, which is there after the page was loaded again."""

from __future__ import annotations

from tests.examples.opened import opened
from tests.webapps import ROOT, served

SHOP = ROOT / "examples" / "webapps" / "shop"


def test_what_is_put_into_the_cart_becomes_an_order_with_the_right_sums() -> None:
    with served(SHOP) as url, opened(url) as app:
        app.page.fill("#search", "pan")
        app.says("#result-count", "1 item")
        app.tap("#product-2", "#add-to-cart")
        app.says("#option-error", "Choose a size first")
        app.tap("#option-size-2", "#quantity-more", "#add-to-cart", "#toast-action")
        app.says("#sum", "$128.00")  # 2 x ($52 + $12)

        app.page.fill("#coupon", "summer25")
        app.tap("#coupon-apply")
        app.says("#coupon-error", "SUMMER25 has expired")
        app.page.fill("#coupon", "welcome10")
        app.tap("#coupon-apply")
        app.says("#discount", "−$12.80")
        app.says("#delivery-price", "Free")
        app.says("#total", "$115.20")

        app.tap("#checkout", "#address-save")
        app.says("#name-error", "Enter your name")
        fields = {"name": "Bo Lind", "email": "bo@lind", "street": "Elm Row 4", "postcode": "123", "city": "Aldby"}
        for name, value in fields.items():
            app.page.fill(f"#{name}", value)
        app.tap("#address-save")
        app.says("#email-error", "Enter an email such as name@site.com")
        app.says("#postcode-error", "Use 5 digits")
        app.page.fill("#email", "bo@lind.example")
        app.page.fill("#postcode", "12345")
        app.tap("#address-save", "#delivery-express")
        app.says("#total", "$125.10")
        app.tap("#to-review", "#place-order")
        app.says("#terms-error", "Agree to the terms to place the order")
        app.tap("#terms", "#place-order")
        app.says("#placed-number", "Order 1003 is placed")

        assert app.stored("shop.cart") == []
        order = app.stored("shop.orders")[-1]
        assert (order["id"], order["total"], order["coupon"], order["status"]) == (1003, 12510, "WELCOME10", "Preparing")
        assert app.stored("shop.orderLines")[-1] == {
            "id": 4, "orderId": 1003, "productId": 2, "options": ["28 cm"], "price": 6400, "quantity": 2,
        }  # fmt: skip

        app.page.reload()
        app.tap("#view-order", "#cancel-order", "#cancel-confirm")
        app.says("#order-status", "Cancelled")
        app.page.go_back()  # over the checkout, to the product
        app.says("#product-name", "Carbon steel pan")


def test_back_closes_a_sheet_and_sorting_reorders_the_catalogue() -> None:
    with served(SHOP) as url, opened(url) as app:
        app.tap("#open-filter")
        app.says("#sheet-title", "Filter")
        app.page.go_back()
        app.page.wait_for_selector("#sheet-scrim", state="hidden")
        app.tap("#open-sort", "#sort-dear")
        app.says("#products li:first-child h3", "Wool throw")
        app.tap("#open-filter", "#price-high", "#filter-stock", "#filter-apply")
        app.says("#open-filter", "Filter (2)")
        app.says("#result-count", "4 items")
