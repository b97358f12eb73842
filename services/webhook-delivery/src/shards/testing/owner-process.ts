import { createLogger } from '@backoffice/runtime/logger.ts'
import { Ownership } from '../ownership.ts'

/** A process that owns shards and does nothing else. Prints how many it has, with each change. */
const url = process.argv[2] ?? ''
let own = 0
const print = (change: number) => {
  own += change
  process.stdout.write(`${own}\n`)
}
const ownership = new Ownership({
  server: { url },
  logger: createLogger('owner', 'silent'),
  onTaking: async () => undefined,
  onTaken: (shards) => print(shards.length),
  onLeaving: async (shards) => print(-shards.length),
  onLost: (shards) => print(-shards.length),
  onDue: () => undefined,
  onRedacted: () => undefined,
  processNumber: process.pid,
  onDied: () => undefined,
  answerWithinMs: Number(process.argv[3]),
})
await ownership.start()
