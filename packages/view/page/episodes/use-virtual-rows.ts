/** The rows of a long list that are in sight, or all of them on paper: TanStack's virtual list, for Preact. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useState } from 'preact/hooks';
import { usePrinting } from '../printing.ts';

export interface VirtualRows {
  items: Pick<VirtualItem, 'index' | 'start' | 'size'>[];
  /** Pixels of all rows. */
  height: number;
  scrollTo(index: number): void;
}

/** Rows that are printed. */
const mostPrinted = 1000;

export function useVirtualRows(
  scroller: RefObject<HTMLElement | null>,
  { count, rowHeight }: { count: number; rowHeight: number },
): VirtualRows {
  const [, draw] = useReducer((drawn: number) => drawn + 1, 0);
  const options = {
    count,
    estimateSize: () => rowHeight,
    getScrollElement: () => scroller.current,
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => draw(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, Element>(options));
  virtualizer.setOptions(options);
  const printed = usePrinting() ? Math.min(count, mostPrinted) : 0;
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return {
    items:
      printed > 0
        ? Array.from({ length: printed }, (_, index) => ({
            index,
            start: index * rowHeight,
            size: rowHeight,
          }))
        : virtualizer.getVirtualItems(),
    height: printed > 0 ? printed * rowHeight : virtualizer.getTotalSize(),
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  };
}
