"""The HTTP client against a real server: nginx with TLS, client certificates, keep-alive limits and compression."""

import os
import shutil
import subprocess
import unittest

from harness import ProcessTest, closed_port, wait_until

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@unittest.skipUnless(os.access(NGINX, os.X_OK), "nginx is not installed")
class Nginx(ProcessTest):
    def setUp(self):
        super().setUp()
        self.make_certificates()
        ports = [closed_port() for _ in range(4)]
        self.plain, self.tls, self.mutual, self.modern = [port for port, _ in ports]
        for _, holder in ports:
            holder.close()
        (self.folder / "index.html").write_text("hello nginx\n" * 100)
        configuration = self.write("nginx.conf", f"""
daemon off; master_process off; worker_processes 1; pid {self.folder}/pid; error_log {self.folder}/error.log;
events {{ worker_connections 256; }}
http {{
  log_format line '$server_port $connection $request_method $uri $status '
    '$ssl_protocol $ssl_session_reused $ssl_client_verify $ssl_server_name';
  access_log {self.folder}/access.log line;
  client_body_temp_path {self.folder}; proxy_temp_path {self.folder}; fastcgi_temp_path {self.folder};
  uwsgi_temp_path {self.folder}; scgi_temp_path {self.folder};
  gzip on; gzip_min_length 1; gzip_types text/html; default_type text/html; root {self.folder};
  keepalive_requests 10;
  ssl_certificate {self.folder}/server.pem; ssl_certificate_key {self.folder}/server.key;
  ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:one:1m;
  server {{ listen 127.0.0.1:{self.plain}; location /old {{ return 301 /; }} }}
  server {{ listen 127.0.0.1:{self.tls} ssl; }}
  server {{ listen 127.0.0.1:{self.mutual} ssl; ssl_client_certificate {self.folder}/ca.pem; ssl_verify_client on; }}
  server {{ listen 127.0.0.1:{self.modern} ssl; ssl_protocols TLSv1.2; }}
}}
""")
        process = subprocess.Popen([NGINX, "-p", str(self.folder), "-c", str(configuration)], stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait, 10)
        self.addCleanup(process.terminate)
        wait_until(lambda: (self.folder / "pid").exists() and (self.folder / "pid").read_text(), what="nginx")

    def make_certificates(self):
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        openssl(self.folder, "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test authority",
                "-days", "2")
        for name, host in (("server", "shop.test"), ("client", "client.test")):
            openssl(self.folder, "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={host}",
                    "-addext", f"subjectAltName=DNS:{host}")
            openssl(self.folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-out",
                    f"{name}.pem", "-days", "2", "-copy_extensions", "copy", "-CAcreateserial")

    def go(self, url, step="{ name: call, get: / }", load="{ vus: 1, iterations: 4 }", code=0, **options):
        given = ", ".join(f"{key}: {value}" for key, value in options.items())
        run = self.run_muster("--cores", "1", yaml=f"""
muster: 1
target: {{ url: "{url}", hosts: {{ shop.test: 127.0.0.1 }}{', ' + given if given else ''} }}
load: {load}
steps: [ {step} ]
""")
        self.assertEqual(run.code, code, run)
        return run

    def log(self):
        lines = [line.split() for line in (self.folder / "access.log").read_text().splitlines()]
        names = ("port", "connection", "method", "uri", "status", "protocol", "reused", "verified", "name")
        return [dict(zip(names, line)) for line in lines]

    def test_connections_are_kept_as_long_as_the_server_lets_them(self):
        run = self.go(f"http://127.0.0.1:{self.plain}", load="{ vus: 2, iterations: 30 each }")
        self.assertEqual(run.summary["failed"], 0)
        self.assertEqual(len({line["connection"] for line in self.log()}), 6)
        self.assertEqual(run.step("call")["connections"], 6)

    def test_compressed_pages_are_read(self):
        run = self.go(f"http://127.0.0.1:{self.plain}", "{ name: call, get: /, compressed: true, check: "
                      "{ body: contains hello nginx, size: '< 600', header.content-encoding: gzip } }")
        self.assertEqual([each["ok"] for each in run.step("call")["checks"]], [4, 4, 4])

    def test_redirects_are_followed(self):
        run = self.go(f"http://127.0.0.1:{self.plain}", "{ name: call, get: /old }")
        self.assertEqual(run.step("call")["statuses"], {"200": 4})

    def test_an_authority_file_is_trusted(self):
        run = self.go(f"https://shop.test:{self.tls}", ca="ca.pem")
        self.assertEqual(run.summary["failed"], 0)
        self.assertEqual({(line["protocol"], line["name"]) for line in self.log()}, {("TLSv1.3", "shop.test")})
        self.assertIn("tls", run.step("call")["phases_us"])

    def test_another_name_can_be_sent_and_verified(self):
        run = self.go(f"https://127.0.0.1:{self.tls}", ca="ca.pem", code=99)
        self.assertEqual(list(run.errors), ["tls"])
        self.go(f"https://127.0.0.1:{self.tls}", ca="ca.pem", sni="shop.test")
        self.assertEqual(self.log()[-1]["name"], "shop.test")

    def test_sessions_are_resumed_unless_told_otherwise(self):
        for resume, expected in (("true", [".", "r", "r", "r"]), ("false", [".", ".", ".", "."])):
            with self.subTest(resume=resume):
                self.go(f"https://shop.test:{self.tls}", ca="ca.pem", connections="none", resume=resume)
                self.assertEqual([line["reused"] for line in self.log()[-4:]], expected)
        self.go(f"https://shop.test:{self.modern}", ca="ca.pem", connections="none")
        self.assertEqual([line["reused"] for line in self.log()[-4:]], [".", "r", "r", "r"], "TLS 1.2")

    def test_sessions_with_two_ports_of_a_host_do_not_displace_each_other(self):
        steps = f'{{ get: / }}, {{ get: "https://shop.test:{self.modern}/" }}'
        self.go(f"https://shop.test:{self.tls}", steps, ca="ca.pem", connections="none")
        self.assertEqual([line["reused"] for line in self.log()], [".", "."] + ["r", "r"] * 3)

    def test_client_certificates_are_shown(self):
        self.go(f"https://shop.test:{self.mutual}", ca="ca.pem", cert="client.pem", key="client.key")
        self.assertEqual({line["verified"] for line in self.log()}, {"SUCCESS"})
        run = self.go(f"https://shop.test:{self.mutual}", ca="ca.pem", code=99)
        self.assertEqual(run.errors, {"status": 4}, "nginx answers 400")

    def test_a_lowest_version_is_kept(self):
        run = self.go(f"https://shop.test:{self.modern}", ca="ca.pem", tls_min='"1.3"', code=99)
        self.assertEqual(run.errors, {"tls": 4})

    def test_files_that_cannot_be_read_are_told_before_the_run(self):
        run = self.run_muster(yaml=f"""
muster: 1
target: {{ url: "https://shop.test:{self.tls}", ca: none.pem, hosts: {{ shop.test: 127.0.0.1 }} }}
steps: [ {{ get: / }} ]
""")
        self.assertIn(run.code, (1, 2), run)
        self.assertIn("none.pem", run.out + run.err)


if __name__ == "__main__":
    unittest.main()
