"""The JSON-RPC server of uiautomator2 (openatx/uiautomator2 3.x), answered by the phone itself.

The client pushes u2.jar and starts it with `app_process / com.wetest.uia2.Main -p PORT`; here that command opens the port and
its methods are ours. No code of the client runs.
"""
