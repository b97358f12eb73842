import { expect, test } from 'vitest'
import { reconnectingClient } from './reconnecting-client.ts'

/** Clients that count their connects and disconnects. */
function clients() {
  const made: { connected: number; disconnected: number; connect(): Promise<void>; disconnect(): Promise<void> }[] = []
  return {
    made,
    create() {
      const client = {
        connected: 0,
        disconnected: 0,
        async connect() {
          client.connected++
        },
        async disconnect() {
          client.disconnected++
        },
      }
      made.push(client)
      return client
    },
  }
}

test('one client is made and connected once, when it is first used', async () => {
  const { made, create } = clients()
  const { use } = reconnectingClient(create)
  expect(made).toEqual([])
  await Promise.all([use(async () => 1), use(async () => 2)])
  expect(made).toMatchObject([{ connected: 1, disconnected: 0 }])
})

test('after a failure the client is disconnected and the next use gets another', async () => {
  const { made, create } = clients()
  const { use } = reconnectingClient(create)
  await expect(use(() => Promise.reject(new Error('lost')))).rejects.toThrow('lost')
  await use(async (client) => expect(client).toBe(made[1]))
  expect(made).toMatchObject([{ disconnected: 1 }, { disconnected: 0 }])
})

test('a client that cannot connect is not kept', async () => {
  const { made, create } = clients()
  const { use } = reconnectingClient(() => {
    const client = create()
    if (made.length === 1) client.connect = () => Promise.reject(new Error('away'))
    return client
  })
  await expect(use(async () => 1)).rejects.toThrow('away')
  expect(await use(async () => 2)).toBe(2)
})
