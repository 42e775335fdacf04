# `scripts/package sums` fills in the version and the digests, and writes the formula to dist.
class Belljar < Formula
  desc "Runs model-written code in a sandbox, over any number of MCP servers"
  homepage "https://github.com/belljar/belljar"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/belljar/belljar/releases/download/v@VERSION@/belljar-@VERSION@-aarch64-apple-darwin.tar.xz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "https://github.com/belljar/belljar/releases/download/v@VERSION@/belljar-@VERSION@-x86_64-apple-darwin.tar.xz"
      sha256 "@x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/belljar/belljar/releases/download/v@VERSION@/belljar-@VERSION@-aarch64-unknown-linux-gnu.tar.xz"
      sha256 "@aarch64-unknown-linux-gnu@"
    end
    on_intel do
      url "https://github.com/belljar/belljar/releases/download/v@VERSION@/belljar-@VERSION@-x86_64-unknown-linux-gnu.tar.xz"
      sha256 "@x86_64-unknown-linux-gnu@"
    end
  end

  def install
    bin.install "belljar"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/belljar.bash" => "belljar"
    zsh_completion.install "completions/_belljar"
    fish_completion.install "completions/belljar.fish"
  end

  test do
    assert_match "2", shell_output("#{bin}/belljar run --code 'return 1 + 1'")
  end
end
