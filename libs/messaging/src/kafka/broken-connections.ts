import type { Socket } from 'node:net'
// @ts-expect-error -- it has no types of its own
import KafkajsBroker from 'kafkajs/src/broker/index.js'
// @ts-expect-error -- it has no types of its own
import KafkajsConnection from 'kafkajs/src/network/connection.js'

interface Connection {
  readonly socket?: Socket
  /** The part of an answer that has arrived, and the bytes to wait for: at first those of its length. */
  chunks: Buffer[]
  bytesBuffered: number
  bytesNeeded: number
  isConnected(): boolean
  connect(): Promise<unknown>
}

interface Broker {
  readonly connectionPool: { readonly connectionTimeout: number; readonly pool: readonly Connection[] }
  apiVersions(): Promise<unknown>
}

const BYTES_OF_LENGTH = 4

const { prototype: broker }: { prototype: Broker } = KafkajsBroker
const { prototype: connection }: { prototype: Connection } = KafkajsConnection
const { apiVersions } = broker
const { connect } = connection

/** Mends how kafkajs (2.2.4) leaves connections on which no answer comes, or only a part of one. */
export function mendBrokenConnections(): void {
  broker.apiVersions = answeredVersions
  connection.connect = connectAnew
}

/**
 * Closes the connection to a broker that takes it and does not answer. After 30 s kafkajs would count that broker as
 * connected and ask no other one.
 */
function answeredVersions(this: Broker): Promise<unknown> {
  const { connectionTimeout, pool } = this.connectionPool
  const close = () => pool[0]?.socket?.destroy(new Error('The broker does not answer'))
  const closing = setTimeout(close, connectionTimeout)
  return apiVersions.call(this).finally(() => clearTimeout(closing))
}

/** Forgets the part of an answer that came before a connection was lost: kafkajs would put the next one behind it. */
function connectAnew(this: Connection): Promise<unknown> {
  if (!this.isConnected()) {
    this.socket?.removeAllListeners('data')
    Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: BYTES_OF_LENGTH })
  }
  return connect.call(this)
}
