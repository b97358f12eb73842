import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const POLL_MS = 100

/** A request as it arrived. Times are in milliseconds since the epoch, with fractions. */
export interface Arrival {
  readonly path: string
  readonly eventId: string
  /** The id in the event's data. */
  readonly resource: string
  readonly at: number
  /** When it was answered, or its sender hung up. */
  readonly endedAt: number
}

/** A message to the receiver's process, which replies to each. */
export type Command =
  | { readonly what: 'count' | 'arrivals' }
  | { readonly what: 'note'; readonly isNoting: boolean }
  | { readonly what: 'until'; readonly count: number }

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** The time now, comparable between processes of this machine: milliseconds since the epoch, with fractions. */
export const sharedNow = (): number => performance.timeOrigin + performance.now()

/** Starts a webhook receiver in a process of its own, with this number of origins. */
export async function startReceiver(origins = 1) {
  const file = fileURLToPath(new URL('receiver-process.ts', import.meta.url))
  const child = fork(file, [String(origins)], { serialization: 'advanced' })
  const answer = async () => {
    const [message] = (await once(child, 'message')) as [{ answer: unknown }]
    return message.answer
  }
  let turn: Promise<unknown> = Promise.resolve()
  const send = <Answer>(command: Command): Promise<Answer> => {
    const answered = turn.then(() => {
      child.send(command)
      return answer() as Promise<Answer>
    })
    turn = answered.catch(() => undefined)
    return answered
  }
  const urls = (await answer()) as string[]
  return {
    pid: child.pid ?? 0,
    /**
     * The URL of an endpoint; they are spread over the origins. A path with `hang` in it is never answered, one with
     * `after-50` after 50 ms.
     */
    url: (index: number, path = 'hook'): string => `${urls[index % urls.length]}${path}/${index}`,
    /** The number of answered requests since `begin`; while it notes arrivals, without repeated ones. */
    count: () => send<number>({ what: 'count' }),
    /** Counts from 0 from now on. With `isNoting` it also notes the arrival of each answered request. */
    begin: (isNoting = false) => send({ what: 'note', isNoting }),
    /** The noted arrivals. */
    arrivals: () => send<Arrival[]>({ what: 'arrivals' }),
    /** Resolves when `count` requests are answered. Throws after `withinMs`. */
    async until(count: number, withinMs = 60_000): Promise<void> {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${count} deliveries did not come in ${withinMs} ms`)), withinMs)
      })
      await Promise.race([send({ what: 'until', count }), late]).finally(() => clearTimeout(timer))
    },
    /** Waits until `count` requests are answered, at most `withinMs`. Returns how many are. */
    async within(count: number, withinMs: number): Promise<number> {
      const deadline = performance.now() + withinMs
      for (;;) {
        const answered = await send<number>({ what: 'count' })
        if (answered >= count || performance.now() > deadline) return answered
        await pause(POLL_MS)
      }
    },
    stop: () => void child.kill(),
  }
}
