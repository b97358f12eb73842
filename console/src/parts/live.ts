import { type FocusEvent, useState, useSyncExternalStore } from 'react'

const SCROLLED_PX = 120

/**
 * Whether somebody reads what has these handlers: the pointer or the focus is in it, or the page is scrolled. What is
 * read must not move.
 */
export function useIsRead() {
  const [hasPointer, setHasPointer] = useState(false)
  const [hasFocus, setHasFocus] = useState(false)
  const isScrolled = useSyncExternalStore(onScroll, () => scrollY > SCROLLED_PX)
  const handlers = {
    onPointerEnter: () => setHasPointer(true),
    onPointerLeave: () => setHasPointer(false),
    onFocus: () => setHasFocus(true),
    onBlur: ({ currentTarget, relatedTarget }: FocusEvent) => setHasFocus(currentTarget.contains(relatedTarget)),
  }
  return { isRead: hasPointer || hasFocus || isScrolled, handlers }
}

function onScroll(changed: () => void) {
  addEventListener('scroll', changed, { passive: true })
  return () => removeEventListener('scroll', changed)
}

/** The rows of a list that is read again and again. While it is held its rows stay in place, and new ones wait. */
export function useCalmRows<Row extends { readonly id: string }>(fresh: readonly Row[], isHeld: boolean) {
  const [shown, setShown] = useState(fresh)
  if (!isHeld && shown !== fresh) setShown(fresh)
  const now = new Map(fresh.map((row) => [row.id, row]))
  const known = new Set(shown.map(({ id }) => id))
  return {
    rows: shown.map((row) => now.get(row.id) ?? row),
    waiting: fresh.filter(({ id }) => !known.has(id)).length,
    show: () => setShown(fresh),
  }
}
