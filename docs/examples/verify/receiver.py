"""A callback receiver that checks every signature. Needs: pip install standardwebhooks

Run: CALLBACK_SECRET=whsec_... python receiver.py 9000
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["CALLBACK_SECRET"])
seen = set()  # Use a table with a unique key in a real service.


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The signature covers the bytes as they came: check first, parse afterwards.
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            webhook.verify(body, dict((name.lower(), value) for name, value in self.headers.items()))
        except WebhookVerificationError:
            return self.answer(401)
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            job = json.loads(body)
            print(job["status"], flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
