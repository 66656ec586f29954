"""A mobile web page in Chromium behind the Device protocol.

`axtree.py` reads Blink's tree, `android.py` turns it into what UI Automator sees (both pure), `frame.py` puts the app's
window around it; `page.py` holds the live page, `world.py` the script that watches it, `touch.py` the fingers; `native.py`
the windows Android draws over a page, `picture.py` the whole picture; `app.py` is one running page, `apps.py` what is
installed, mini-apps among them; `device.py` is the phone.
"""

from phoneworld.device.web.android import Profile
from phoneworld.device.web.apps import AppSpec, package_of, parse_spec
from phoneworld.device.web.device import WebDevice

__all__ = ["AppSpec", "Profile", "WebDevice", "package_of", "parse_spec"]
