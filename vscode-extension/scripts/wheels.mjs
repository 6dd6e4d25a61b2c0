// Fills dist/server: the server's wheel, and for a target of the Marketplace the wheels of everything that it needs to answer
// and to run kernels, so that installing it needs no network. Without the compiled engine, whose wheels would be 200 MB more.

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

// What pip calls the platforms of a target.
const PLATFORMS = {
  'linux-x64': ['manylinux_2_28_x86_64', 'manylinux_2_27_x86_64', 'manylinux_2_17_x86_64', 'manylinux2014_x86_64'],
  'linux-arm64': ['manylinux_2_28_aarch64', 'manylinux_2_27_aarch64', 'manylinux_2_17_aarch64', 'manylinux2014_aarch64'],
  'darwin-x64': ['macosx_10_9_x86_64', 'macosx_10_13_x86_64', 'macosx_10_15_x86_64', 'macosx_14_0_x86_64'],
  'darwin-arm64': ['macosx_11_0_arm64', 'macosx_12_0_arm64', 'macosx_14_0_arm64'],
  'win32-x64': ['win_amd64'],
};
export const TARGETS = Object.keys(PLATFORMS);
const PYTHONS = ['3.11', '3.12', '3.13', '3.14'];

/** `target` is one of TARGETS, or undefined for the server's wheel alone; VISA_PYTHONS names fewer versions of Python. */
export function fillServer(target) {
  const python = process.env.PYTHON ?? 'python3';
  const pip = (...words) =>
    execFileSync(python, ['-m', 'pip', ...words, '--quiet', '--disable-pip-version-check'], { stdio: 'inherit' });
  pip('wheel', '--no-deps', '--wheel-dir', 'dist/server', '..');
  if (target === undefined) {
    return;
  }
  const platforms = PLATFORMS[target];
  if (platforms === undefined) {
    throw new Error(`no wheels are known for the target ${target}; there are ${TARGETS.join(', ')}`);
  }
  const own = readdirSync('dist/server').find((name) => name.endsWith('.whl'));
  for (const version of process.env.VISA_PYTHONS?.split(' ') ?? PYTHONS) {
    const where = ['--python-version', version, '--implementation', 'cp', ...platforms.flatMap((name) => ['--platform', name])];
    pip('download', '--only-binary=:all:', ...where, '--dest', 'dist/server/needed', `dist/server/${own}[run,embed]`);
  }
}
