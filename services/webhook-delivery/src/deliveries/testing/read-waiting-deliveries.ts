import { WaitingDeliveries } from '../waiting-deliveries.ts'

/** What a process knows of waiting deliveries once it has read the table through and found nothing. */
export function readWaitingDeliveries(): WaitingDeliveries {
  const waitingDeliveries = new WaitingDeliveries()
  waitingDeliveries.noteReadThrough()
  return waitingDeliveries
}
