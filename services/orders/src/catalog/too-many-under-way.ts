import type { SlotRefusal } from '@backoffice/runtime/fair-slots.ts'

/** The message to a request whose call to another service found no slot. */
export const tooManyUnderWay = (what: 'orders' | 'checkouts', why: SlotRefusal): string =>
  `${why === 'owner' ? 'This workspace has' : 'All workspaces together have'} too many ${what} under way; try again`
