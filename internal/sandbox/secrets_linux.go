package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// secretsOfHome are folders and files of a home that hold keys, tokens or what
// a person did. They read as empty in every world.
var secretsOfHome = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".config", ".kube", ".docker", ".oci", ".bluemix", ".doctl",
	".netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".gitconfig.local", ".git-credentials",
	".password-store", ".local/share/keyrings", ".local/share/kwalletd", ".mozilla", ".thunderbird", ".pki",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties",
	".terraform.d", ".terraformrc", ".vault-token", ".boto", ".s3cfg", ".rclone.conf", ".databrickscfg", ".snowsql", ".huggingface",
	".claude", ".claude.json", ".codex", ".gemini", ".cursor", ".vscode-server/data",
	".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".sqlite_history", ".mysql_history",
}

// secretsOfMachine are those that only root may read.
var secretsOfMachine = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssl/private", "/etc/sudoers", "/etc/sudoers.d",
	"/var/lib/docker", "/var/lib/kubelet", "/var/lib/containerd",
}

// secrets lists the real paths of the secrets that exist on this machine, but
// those in except.
func secrets(except []string) []string {
	var paths []string
	add := func(path string) {
		real, err := filepath.EvalSymlinks(path)
		if err == nil && !slices.Contains(except, path) && !slices.Contains(except, real) && !slices.Contains(paths, real) {
			paths = append(paths, real)
		}
	}
	for _, home := range homes() {
		for _, name := range secretsOfHome {
			add(filepath.Join(home, name))
		}
	}
	for _, path := range secretsOfMachine {
		add(path)
	}
	keys, _ := filepath.Glob("/etc/ssh/ssh_host_*_key")
	for _, key := range keys {
		add(key)
	}
	slices.Sort(paths)
	return paths
}

func homes() []string {
	found := []string{"/root"}
	if home, err := os.UserHomeDir(); err == nil {
		found = append(found, home)
	}
	others, _ := filepath.Glob("/home/*")
	return append(found, others...)
}
