import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a PostgreSQL superuser; set by tests/global-setup.ts, as are the others. */
    postgresUrl: string
    kafkaBrokers: string[]
    registryUrl: string
    /** Name of each service's template database. */
    templates: Record<string, string>
    /** Node's arguments for each service, its bundled program last, and the folder of their compile cache. */
    programs: { argsOf: Record<string, string[]>; cache: string }
  }
}

/** The real PostgreSQL, Kafka and schema registry that the tests run against. */
export const backingServices = () => ({
  postgresUrl: inject('postgresUrl'),
  kafkaBrokers: inject('kafkaBrokers'),
  registryUrl: inject('registryUrl'),
})
