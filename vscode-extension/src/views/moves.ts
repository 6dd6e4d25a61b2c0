// Where the arrow keys lead from block to block. Pure functions, no page.
//
// Up and down follow the edges, of several the one whose block is nearest; where no edge leads, and to the left and right,
// it is the place that counts.

import type { Box, Layout } from './graph.ts';

/** The block that a key leads to; undefined where the key means nothing, or nothing lies there. */
export function moved({ boxes, routes }: Layout, id: string, key: string): string | undefined {
  const at = boxes.find((box) => box.id === id);
  if (at === undefined) {
    return undefined;
  }
  const named = (ids: string[]): Box[] => boxes.filter((box) => ids.includes(box.id) && box !== at);
  switch (key) {
    case 'Home':
      return boxes[0]?.id;
    case 'End':
      return boxes.at(-1)?.id;
    case 'ArrowDown': {
      const next = named(routes.filter((route) => route.from === id).map((route) => route.to));
      const below = boxes.filter((box) => box.y > at.y);
      return (nearest(at, next.filter((box) => box.y > at.y)) ?? nearest(at, next) ?? nearest(at, below))?.id;
    }
    case 'ArrowUp': {
      const before = named(routes.filter((route) => route.to === id).map((route) => route.from));
      const above = boxes.filter((box) => box.y < at.y);
      return (nearest(at, before.filter((box) => box.y < at.y)) ?? nearest(at, above) ?? nearest(at, before))?.id;
    }
    case 'ArrowLeft':
      return nearest(at, boxes.filter((box) => middle(box)[0] < middle(at)[0] - 1))?.id;
    case 'ArrowRight':
      return nearest(at, boxes.filter((box) => middle(box)[0] > middle(at)[0] + 1))?.id;
    default:
      return undefined;
  }
}

function middle(box: Box): [number, number] {
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** The nearest of some boxes; what lies at another height counts as farther away. */
function nearest(at: Box, boxes: Box[]): Box | undefined {
  const far = (box: Box): number => Math.abs(middle(box)[0] - middle(at)[0]) + 2 * Math.abs(box.y - at.y);
  return boxes.reduce<Box | undefined>((best, box) => (best === undefined || far(box) < far(best) ? box : best), undefined);
}
