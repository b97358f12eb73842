interface Client {
  connect(): Promise<void>
  disconnect(): Promise<void>
}

/**
 * Keeps one client, which is connected when first used. After a failure the state of the request and of the client is
 * unknown, so the next use gets a new client.
 */
export function reconnectingClient<C extends Client>(create: () => C) {
  let current: Promise<C> | undefined

  const connect = async () => {
    const client = create()
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.disconnect().catch(() => undefined)
      throw error
    }
  }
  const discard = async (used: Promise<C>) => {
    if (current === used) current = undefined
    await used.then((client) => client.disconnect()).catch(() => undefined)
  }

  return {
    async use<Result>(work: (client: C) => Promise<Result>): Promise<Result> {
      current ??= connect()
      const used = current
      try {
        return await work(await used)
      } catch (error) {
        void discard(used)
        throw error
      }
    },
    async close() {
      if (current) await discard(current)
    },
  }
}

export type ReconnectingClient<C extends Client> = ReturnType<typeof reconnectingClient<C>>
