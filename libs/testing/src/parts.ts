import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a PostgreSQL superuser; set by tests/global-setup.ts, as are the other two. */
    postgresUrl: string
    kafkaBrokers: string[]
    registryUrl: string
  }
}

/** The real PostgreSQL, Kafka and schema registry that the tests run against. */
export const parts = () => ({
  postgresUrl: inject('postgresUrl'),
  kafkaBrokers: inject('kafkaBrokers'),
  registryUrl: inject('registryUrl'),
})
