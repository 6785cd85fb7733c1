//! Signs and file names, the same in every language.

use super::*;

pub(super) const WORDS: Table = &[
    (SLOT, "`"),
    (
        LITERAL,
        ".com|.net|.org|.io|.example|.dev|.xyz|.ru|.cn|.info|.site|.online|.top|.app|.test|.invalid|.co|.me|@|http://|https://|+0|+1|+2|+3|+4|+5|+6|+7|+8|+9",
    ),
    (
        FILE,
        "~/.|.ssh|id_rsa|id_ed25519|id_ecdsa|.env|/etc/passwd|/etc/shadow|.aws/|.netrc|mcp.json|.cursor|.kube|kubeconfig\
         |.npmrc|.pypirc|.git-credentials|.gnupg|.bash_history|.zsh_history|authorized_keys|known_hosts|wallet.dat|.pem\
         |.docker/config|claude_desktop_config|credentials.json|secrets.yaml|secrets.yml|secrets.json|service-account|.config/gh",
    ),
];
