import { Backlog } from '../backlog.ts'

/** What a process knows of waiting deliveries once it has read the table through and found nothing. */
export function readBacklog(): Backlog {
  const backlog = new Backlog()
  backlog.noteReadThrough()
  return backlog
}
