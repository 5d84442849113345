//! The hostile addresses, one by one, against the text rules and the address rules.

use super::*;

/// A service that listens on the network, with nothing allowed beyond the rule.
fn strict() -> Policy {
    let own = ["192.0.2.7:8080".parse().expect("an address")];
    let hosts = ["https://gateway.example.com".to_owned()];
    Policy::from_settings(&[80, 443, 8443], None, false, &own, &hosts).expect("a policy")
}

/// The first start on a developer's machine.
fn local() -> Policy {
    let own = ["127.0.0.1:8080".parse().expect("an address")];
    let hosts = ["http://127.0.0.1:8080".to_owned()];
    Policy::from_settings(&[], None, true, &own, &hosts).expect("a policy")
}

fn listed(entries: &[&str]) -> Policy {
    let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
    Policy::from_settings(&[80, 443], Some(&entries), true, &[], &[]).expect("a policy")
}

fn refused(policy: &Policy, text: &str) -> Option<String> {
    policy
        .check_url(text, Purpose::Callback)
        .err()
        .map(|blocked| blocked.to_string())
}

fn open(policy: &Policy, host: &str, address: &str) -> bool {
    let address = address.parse().expect("a socket address");
    policy
        .check_address(Purpose::Callback, host, address)
        .is_ok()
}

const NOT_PUBLIC: &[&str] = &[
    "http://127.0.0.1/",
    "http://127.255.255.254/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0x0.0x0.0x1/",
    "http://0x7f.1/",
    "http://0300.0250.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://127.0.0.1./",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.7.1/",
    "http://168.63.129.16/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://198.19.255.255/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://192.88.99.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[0:0:0:0:0:ffff:169.254.169.254]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::1]/",
    "http://[64:ff9c::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    "http://[fd00:ec2::254]/",
    "http://[fc00::1]/",
    "http://[fd7a:115c:a1e0::1]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[100::1]/",
    "http://[5f00::1]/",
    "http://[3fff::1]/",
    "http://[2001:db8::1]/",
    "http://[2001:20::1]/",
    "http://[4000::1]/",
];

#[test]
fn literals_in_every_disguise_are_refused_at_submit() {
    for text in NOT_PUBLIC {
        let reason = refused(&strict(), text).unwrap_or_else(|| panic!("{text} was let through"));
        assert_eq!(reason, not_public().to_string(), "{text}");
    }
}

#[test]
fn public_literals_next_to_closed_networks_pass() {
    for text in [
        "http://172.15.255.255/",
        "http://172.32.0.1/",
        "http://100.63.255.254/",
        "http://100.128.0.1/",
        "http://8.8.8.8/",
        "http://8.8.8.8:443/",
        "http://8.8.8.8:8443/",
        "https://[2606:4700::1111]/",
        "https://[2001:200::1]/",
    ] {
        assert_eq!(refused(&strict(), text), None, "{text}");
    }
}

#[test]
fn names_of_local_networks_are_refused_at_submit() {
    for text in [
        "http://localhost/",
        "http://LOCALHOST/",
        "http://localhost./",
        "http://lo\u{ad}calhost/",
        "http://a.localhost/",
        "http://intranet/",
        "http://db/",
        "http://printer.local/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://nas.lan/",
        "http://x.home.arpa/",
        "http://a.intranet/",
        "http://a.corp/",
        "http://a.corp./",
        "http://a.test/",
        "http://a.example/",
        "http://a.invalid/",
        "http://a.onion/",
    ] {
        let reason = refused(&strict(), text).unwrap_or_else(|| panic!("{text} was let through"));
        assert_eq!(reason, "must have a public host name", "{text}");
    }
    assert_eq!(refused(&strict(), "https://hooks.notlocal.org/"), None);
    assert_eq!(refused(&strict(), "https://notlocalhost.org/"), None);
}

/// What the parser would repair, by the reason for refusing it.
const ODD_TEXTS: &[(&str, &[&str])] = &[
    (
        "must not carry a user name or password",
        &[
            "http://example.com@127.0.0.1/",
            "http://127.0.0.1@example.org/",
            "http://@example.org/",
            "http://u:p@example.org/",
        ],
    ),
    (
        "must not contain spaces, backslashes or control characters",
        &[
            "http://example.org\\@127.0.0.1/",
            "http:\\\\127.0.0.1\\",
            " http://example.org/",
            "http://example.org/ ",
            "http://127.0.0.1\t/",
            "http://exam\nple.org/",
            "http://ex ample.org/",
            "http://example.org/\r\nX: 1",
            "http://example.org/\u{0}",
        ],
    ),
    (
        "must be an http or https URL",
        &[
            "http:///127.0.0.1/",
            "http:127.0.0.1/",
            "http:/example.org/",
            "//example.org/",
            "example.org",
            "",
            "http://127.0.0.1%00.example.org/",
            "http://xn--/",
            "http://8.8.8.8:99999/",
            "http://8.8.8.8:80:8080/",
            "http://1.2.3.4.5/",
            "http://999.1.1.1/",
        ],
    ),
];

#[test]
fn texts_that_need_repair_are_refused_at_submit() {
    for (reason, texts) in ODD_TEXTS {
        for text in *texts {
            assert_eq!(
                refused(&strict(), text).as_deref(),
                Some(*reason),
                "{text:?}"
            );
            assert!(refused(&local(), text).is_some(), "{text:?} on loopback");
        }
    }
}

#[test]
fn only_http_and_https_are_schemes() {
    for text in [
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_PING",
        "dict://127.0.0.1:11211/",
        "ftp://example.org/",
        "jar:http://example.org!/",
        "unix:///var/run/docker.sock",
        "http+unix://%2fvar%2frun/",
        "data:image/png;base64,AAAA",
        "javascript:alert(1)",
        "ws://example.org/",
        "httpss://example.org/",
    ] {
        assert!(refused(&local(), text).is_some(), "{text}");
        assert_eq!(
            refused(&strict(), text).as_deref(),
            Some("must be an http or https URL"),
            "{text}"
        );
    }
}

/// Whether a public address may be used at a port, by name, by literal and at the connection.
fn uses(policy: &Policy, port: u16) -> [bool; 3] {
    [
        refused(policy, &format!("http://receiver.org:{port}/")).is_none(),
        refused(policy, &format!("http://8.8.8.8:{port}/")).is_none(),
        open(policy, "receiver.org", &format!("8.8.8.8:{port}")),
    ]
}

#[test]
fn only_listed_ports_are_used() {
    for port in [
        22, 25, 53, 110, 389, 2375, 3306, 5432, 6379, 9200, 8080, 1, 0,
    ] {
        assert_eq!(uses(&strict(), port), [false; 3], "{port}");
    }
    for port in [80, 443, 8443] {
        assert_eq!(uses(&strict(), port), [true; 3], "{port}");
    }
    assert_eq!(
        refused(&strict(), "http://receiver.org:22/").as_deref(),
        Some("must use one of the ports 80, 443, 8443, is 22")
    );
    let alone = Policy::from_settings(&[443], None, false, &[], &[]).expect("a policy");
    assert_eq!(uses(&alone, 80), [false; 3]);
    let bad = Policy::from_settings(&[443, 25], None, false, &[], &[]).expect_err("bad");
    assert!(bad.starts_with("outbound.ports: 25 "), "{bad}");
}

#[test]
fn without_a_list_every_port_is_used_that_belongs_to_no_other_protocol() {
    for port in [80, 443, 3000, 8000, 8080, 8443, 9000, 49152, 65535] {
        assert_eq!(uses(&local(), port), [true; 3], "{port}");
    }
    for port in [
        0, 1, 22, 25, 53, 110, 389, 587, 2049, 5060, 6000, 6667, 6697, 10080,
    ] {
        assert_eq!(uses(&local(), port), [false; 3], "{port}");
    }
    assert_eq!(
        refused(&local(), "http://receiver.org:25/").as_deref(),
        Some("must use a port that belongs to no other protocol, is 25")
    );
}

/// The promise: whoever is not on this machine has no part in what it may reach on itself, by no way.
#[test]
fn somebody_from_outside_does_not_reach_this_machine() {
    let outside = local().from_outside();
    for text in [
        "http://127.0.0.1:9000/",
        "http://localhost:9000/",
        "http://[::1]:9000/",
    ] {
        assert_eq!(refused(&local(), text), None, "{text}");
        assert!(refused(&outside, text).is_some(), "{text}");
    }
    assert_eq!(refused(&outside, "https://receiver.org/"), None);
    assert!(!open(&outside, "127.0.0.1", "127.0.0.1:9000"));
    let listed = listed(&["127.0.0.1:9000"]).from_outside();
    assert_eq!(
        refused(&listed, "http://127.0.0.1:9000/"),
        None,
        "the operator says so"
    );
}

#[test]
fn lengths_are_bounded() {
    let long = format!("http://example.org/{}", "a".repeat(2048 - 19));
    assert_eq!(refused(&strict(), &long), None);
    assert!(refused(&strict(), &format!("{long}a")).is_some());
    assert!(
        refused(
            &strict(),
            &format!("http://example.org/{}", "é".repeat(1_000_000))
        )
        .is_some()
    );
    assert!(refused(&strict(), &format!("http://{}.org/", "a".repeat(64))).is_some());
    assert_eq!(
        refused(&strict(), &format!("http://{}.org/", "a".repeat(63))),
        None
    );
    assert!(refused(&strict(), &format!("http://{}org/", "a.".repeat(126))).is_some());
    assert!(refused(&strict(), "http://a..org/").is_some());
}

#[test]
fn the_normal_form_is_what_comes_back() {
    let url = strict()
        .check_url(
            "HTTPS://Example.ORG.:443/%0d%0aX:1?a=b#frag",
            Purpose::Image,
        )
        .expect("allowed");
    assert_eq!(url.as_str(), "https://example.org/%0d%0aX:1?a=b");
}

#[test]
fn every_address_is_judged_again_at_connect() {
    for text in NOT_PUBLIC {
        let url = Url::parse(text).expect("an address");
        let ip: IpAddr = match url.host() {
            Some(Host::Ipv4(ip)) => ip.into(),
            Some(Host::Ipv6(ip)) => ip.into(),
            _ => text
                .trim_start_matches("http://")
                .trim_end_matches(['.', '/'])
                .parse()
                .expect("a literal"),
        };
        let address = SocketAddr::new(ip, 80);
        let judged = strict().check_address(Purpose::Image, "innocent.org", address);
        assert!(judged.is_err(), "{address}");
    }
    assert!(open(&strict(), "innocent.org", "8.8.8.8:443"));
}

#[test]
fn a_loopback_listener_may_reach_loopback_on_every_port_and_nothing_else() {
    for text in [
        "http://127.0.0.1:9000/hook",
        "http://127.0.0.2:1/",
        "http://localhost:9000/",
        "http://[::1]:9000/",
        "http://127.1:9000/",
    ] {
        assert_eq!(refused(&local(), text), None, "{text}");
    }
    for text in [
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "http://[::ffff:127.0.0.1]:9000/",
        "http://0.0.0.0:9000/",
        "http://intranet:9000/",
        "http://127.0.0.1:0/",
    ] {
        assert!(refused(&local(), text).is_some(), "{text}");
    }
    assert!(open(&local(), "app.localhost", "127.0.0.1:80"));
    // A name of somebody else's is judged where it leads.
    assert!(!open(&local(), "rebind.org", "127.0.0.1:80"));
    assert!(!open(&local(), "rebind.org", "10.0.0.1:80"));
}

#[test]
fn an_explicit_list_replaces_the_loopback_exception() {
    let policy = listed(&["127.0.0.2/32:9001", "receiver:9000", "10.1.0.0/16"]);
    assert_eq!(refused(&policy, "http://127.0.0.2:9001/"), None);
    assert!(refused(&policy, "http://127.0.0.2:9002/").is_some());
    assert!(refused(&policy, "http://127.0.0.1:9001/").is_some());
    assert!(refused(&policy, "http://localhost:9001/").is_some());
    assert_eq!(refused(&policy, "http://receiver:9000/"), None);
    assert!(refused(&policy, "http://receiver:9001/").is_some());
    assert!(open(&policy, "receiver", "172.18.0.3:9000"));
    assert!(!open(&policy, "other", "172.18.0.3:9000"));
    assert_eq!(refused(&policy, "http://10.1.2.3:5000/"), None);
    assert!(refused(&policy, "http://10.2.0.1/").is_some());
    assert_eq!(refused(&policy, "http://sink.org:9001/"), None);
    assert!(open(&policy, "sink.org", "127.0.0.2:9001"));
    assert!(!open(&policy, "sink.org", "8.8.8.8:9001"));
    let nothing = listed(&[]);
    assert!(refused(&nothing, "http://127.0.0.1:9000/").is_some());
}

#[test]
fn entries_of_the_list_are_read_or_refused_by_name() {
    let good = [
        "127.0.0.1",
        "127.0.0.0/8",
        "127.0.0.0/8:9000",
        "127.0.0.1:9000",
        "::1",
        "[::1]:9000",
        "fd00::/8",
        "fd00::/8:443",
        "[fd00::]/8:443",
        "0.0.0.0/0",
        "host:80",
        "a.example.org:8443",
    ];
    for entry in good {
        assert!(AllowRule::parse(entry).is_ok(), "{entry}");
    }
    for entry in [
        "",
        "host",
        "host:0",
        "host:x",
        "10.0.0.0/33",
        "10.0.0.0/8:0",
        "/8",
        "a b:80",
    ] {
        let error = AllowRule::parse(entry).expect_err(entry);
        assert!(error.starts_with("outbound.allow: `"), "{error}");
    }
}

#[test]
fn the_service_is_never_its_own_receiver() {
    let itself = "must not lead back to this service";
    for text in [
        "http://127.0.0.1:8080/hook",
        "http://localhost:8080/hook",
        "http://127.1:8080/",
    ] {
        assert_eq!(refused(&local(), text).as_deref(), Some(itself), "{text}");
    }
    assert!(!open(&local(), "sneaky.org", "127.0.0.1:8080"));
    assert_eq!(
        refused(&strict(), "https://gateway.example.com/x").as_deref(),
        Some(itself)
    );
    assert_eq!(
        refused(&strict(), "https://GATEWAY.example.com./x").as_deref(),
        Some(itself)
    );
    let everywhere = ["0.0.0.0:8080".parse().expect("an address")];
    let policy = Policy::from_settings(
        &[],
        Some(&["127.0.0.0/8".to_owned()]),
        false,
        &everywhere,
        &[],
    )
    .expect("a policy");
    assert!(refused(&policy, "http://127.0.0.1:8080/").is_some());
    assert!(refused(&policy, "http://localhost:8080/").is_some());
    assert_eq!(refused(&policy, "http://127.0.0.1:8081/"), None);
    let image = local().check_url("http://127.0.0.1:8080/a.png", Purpose::Image);
    assert!(image.is_ok());
}
