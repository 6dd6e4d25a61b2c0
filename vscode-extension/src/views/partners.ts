// The mark of lines that belong to the line of the cursor elsewhere; in high contrast a border instead of a background.

import * as vscode from 'vscode';

export function partnerMark(): vscode.TextEditorDecorationType {
  const { HighContrast, HighContrastLight } = vscode.ColorThemeKind;
  const inContrast = [HighContrast, HighContrastLight].includes(vscode.window.activeColorTheme.kind);
  const colour = new vscode.ThemeColor('contrastActiveBorder');
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.wordHighlightForeground'),
    ...(inContrast ? { border: '1px dashed', borderColor: colour } : { backgroundColor: new vscode.ThemeColor('editor.findMatchHighlightBackground') }),
  });
}

/** Marks lines in some editors, and brings the first into view. */
export function markLines(mark: vscode.TextEditorDecorationType, editors: readonly vscode.TextEditor[], lines: readonly number[]): void {
  const places = lines.map((line) => new vscode.Range(line, 0, line, 0));
  for (const editor of editors) {
    editor.setDecorations(mark, places);
    if (places.length > 0) {
      editor.revealRange(places[0]!, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }
}
