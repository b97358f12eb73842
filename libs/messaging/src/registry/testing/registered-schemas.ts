import { backingServices } from '@backoffice/testing/backing-services.ts'
import { registerSchemas } from '../register-schemas.ts'

let registered: Promise<void> | undefined

/** Registers the schemas of all records at the tests' registry, unless another file of this worker has done so. */
export const registeredSchemas = (): Promise<void> => {
  registered ??= registerSchemas(backingServices().registryUrl).catch((error: unknown) => {
    registered = undefined
    throw error
  })
  return registered
}
