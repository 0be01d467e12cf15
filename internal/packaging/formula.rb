# Does with a Homebrew formula what brew does, where there is no brew: downloads the archive that it
# names for this system, compares the checksum, and runs its install and its test.
#
#   ruby internal/packaging/formula.rb FORMULA.rb PREFIX
require "digest"
require "fileutils"
require "open-uri"
require "pathname"
require "tmpdir"

class Formula
  class << self
    attr_reader :tested

    %i[desc homepage version license url sha256].each do |name|
      define_method(name) { |*value| value.empty? ? (@said ||= {})[name] : (@said ||= {})[name] = value[0] }
    end
    def on_macos = (yield if RUBY_PLATFORM.include?("darwin"))
    def on_linux = (yield if RUBY_PLATFORM.include?("linux"))
    def on_intel = (yield if RUBY_PLATFORM.start_with?("x86_64"))
    def on_arm = (yield if RUBY_PLATFORM.match?(/\A(arm64|aarch64)/))
    def test(&block) = @tested = block
  end

  attr_reader :prefix, :testpath

  def initialize(prefix, testpath) = (@prefix, @testpath = Pathname(prefix), Pathname(testpath))
  def bin = prefix/"bin"
  def bash_completion = prefix/"etc/bash_completion.d"
  def zsh_completion = prefix/"share/zsh/site-functions"
  def fish_completion = prefix/"share/fish/vendor_completions.d"
  def system(*words) = Kernel.system(*words.map(&:to_s)) || abort("failed: #{words.join(" ")}")
  def assert_predicate(value, name) = value.public_send(name) || abort("not #{name} #{value}")
end

# Files are moved into a folder, under new names where a hash gives them.
class Pathname
  def install(*files)
    mkpath
    files.flat_map { |f| f.is_a?(Hash) ? f.to_a : [[f, File.basename(f)]] }
         .each { |from, to| FileUtils.mv(from, self/to) }
  end
end

load ARGV[0]
%i[desc homepage version license url sha256].each { |name| Decoy.send(name) || abort("no #{name}") }
prefix = File.expand_path(ARGV[1])
Dir.mktmpdir do |dir|
  archive = URI.open(Decoy.url, &:read)
  Digest::SHA256.hexdigest(archive) == Decoy.sha256 || abort("another checksum: #{Decoy.url}")
  File.binwrite("#{dir}/archive", archive)
  Dir.mkdir("#{dir}/in")
  Kernel.system("tar", "-xzf", "#{dir}/archive", "-C", "#{dir}/in") || abort("not an archive")
  formula = Decoy.new(prefix, Dir.mktmpdir(nil, dir))
  Dir.chdir(Dir["#{dir}/in/*"].first) { formula.install } # its one folder, as brew does
  Dir.chdir(formula.testpath) { formula.instance_eval(&Decoy.tested) }
end
