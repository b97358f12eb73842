interface Client {
  connect(): Promise<void>
  disconnect(): Promise<void>
}

/** A client that is connected when first used and replaced after any failure. */
export interface Replaceable<C extends Client> {
  use<Result>(work: (client: C) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/**
 * Keeps one connected client. After a failure nobody knows what the broker did with the request or what the client still
 * believes, so the next use gets a new client.
 */
export function replaceable<C extends Client>(create: () => C): Replaceable<C> {
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
    async use(work) {
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
