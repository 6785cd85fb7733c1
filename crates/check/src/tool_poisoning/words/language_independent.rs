//! Signs and file names, which are the same in every language. Entries that begin with a sign
//! match anywhere, also inside a word.

use super::*;

pub(super) const WORDS: WordTable = &[
    // A quoted name.
    (PARAMETER, "`"),
    // Parts of addresses, URLs and international telephone numbers.
    (
        ADDRESS,
        ".com|.net|.org|.io|.example|.dev|.xyz|.ru|.cn|.info|.site|.online|.top|.app|.test|\
         .invalid|.co|.me|@|http://|https://|+0|+1|+2|+3|+4|+5|+6|+7|+8|+9",
    ),
    // Files and folders in which programs keep keys, tokens and histories.
    (
        SECRET_FILE,
        "~/.|.ssh|id_rsa|id_ed25519|id_ecdsa|.env|/etc/passwd|/etc/shadow|.aws/|.netrc|mcp.json|\
         .cursor|.kube|kubeconfig|.npmrc|.pypirc|.git-credentials|.gnupg|.bash_history|\
         .zsh_history|authorized_keys|known_hosts|wallet.dat|.pem|.docker/config|\
         claude_desktop_config|credentials.json|secrets.yaml|secrets.yml|secrets.json|\
         service-account|.config/gh",
    ),
];
