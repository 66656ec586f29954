"""A mobile web page in Chromium behind the Device protocol.

`axtree.py` reads Blink's tree, `android.py` turns it into what UI Automator sees (both pure), `frame.py` puts the app's
window around it; `page.py` holds the live page, `world.py` the script that watches it, `touch.py` the fingers; `native.py`
the windows Android draws over a page, `picture.py` the whole picture; `device.py` is the phone.
"""

from phoneworld.device.web.android import Profile
from phoneworld.device.web.device import WebDevice, package_of

__all__ = ["Profile", "WebDevice", "package_of"]
