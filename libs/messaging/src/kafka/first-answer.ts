import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import type { Kafka } from './kafka-connection.ts'

const ASK_EVERY_MS = 5000

const reached = gauge('kafka_reached', '1 once a broker has answered since the start of the process, 0 before')

/**
 * Asks Kafka until it has answered once. Until then the log, a metric and the readiness probe's answer say why not
 * (decision 009): the address, TLS or the login may be wrong. The process serves meanwhile what needs no Kafka.
 */
export function firstAnswer(kafka: Pick<Kafka, 'reach'>, logger: Logger, askEveryMs = ASK_EVERY_MS): Component {
  const stopping = new AbortController()
  let missing: string | undefined = 'not yet asked'
  let ended: Promise<void> | undefined

  const ask = async () => {
    while (missing !== undefined && !stopping.signal.aborted) {
      try {
        await kafka.reach()
        missing = undefined
        reached.record(1)
      } catch (error) {
        missing = error instanceof Error ? error.message : String(error)
        logger.warn({ err: error }, 'Kafka has not answered since the start, trying again')
        await pauseUnless(stopping.signal, askEveryMs)
      }
    }
  }

  return {
    name: 'first answer of Kafka',
    async start() {
      reached.record(0)
      ended = ask()
    },
    remark: () => (missing === undefined ? undefined : `Kafka has not answered since the start: ${missing}`),
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
