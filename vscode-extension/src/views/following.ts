// A file's ways: written, replaced, deleted, made again. One telling for what comes in quick succession.

import * as path from 'node:path';
import * as vscode from 'vscode';

const PAUSE = 150; // milliseconds; a file is often written in several steps

/** Calls back when a file has changed, is gone, or is there again; it need not be there yet, nor in the opened folder. */
export function follow(uri: vscode.Uri, changed: () => void): vscode.Disposable {
  const pattern = new vscode.RelativePattern(vscode.Uri.joinPath(uri, '..'), path.posix.basename(uri.path));
  const watcher = vscode.workspace.createFileSystemWatcher(pattern);
  let timer: NodeJS.Timeout | undefined;
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(changed, PAUSE);
  };
  const listeners = [watcher.onDidChange(later), watcher.onDidCreate(later), watcher.onDidDelete(later), watcher];
  return new vscode.Disposable(() => {
    clearTimeout(timer);
    listeners.forEach((listener) => listener.dispose());
  });
}

/** An exception says in words that there is no such file, and what would make it. */
export async function mustBeThere(uri: vscode.Uri, maker: string): Promise<void> {
  try {
    await vscode.workspace.fs.stat(uri);
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === 'FileNotFound') {
      throw new Error(`There is no ${path.posix.basename(uri.path)}: it is not made yet, or deleted. ${maker}`);
    }
    throw error;
  }
}
