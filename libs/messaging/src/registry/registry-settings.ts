import { Certificates } from '@backoffice/runtime/certificates.ts'
import { HttpUrl } from '@backoffice/runtime/config.ts'
import { z } from 'zod'

/** The settings of connections to the schema registry. */
export const REGISTRY = {
  SCHEMA_REGISTRY_URL: HttpUrl.describe(
    'The schema registry: `http://…` or `https://…`, with the path of its Confluent API.',
  ),
  SCHEMA_REGISTRY_USERNAME: z
    .string()
    .optional()
    .describe('The user of the schema registry (basic authentication); without login unless set.'),
  SCHEMA_REGISTRY_PASSWORD: z.string().optional().describe('The password of that user.').meta({ secret: true }),
  SCHEMA_REGISTRY_CA: Certificates.optional()
    .describe(
      'Certificates in PEM of the authorities that sign that of the schema registry; those that Node.js knows unless set.',
    )
    .meta({ file: true }),
}

type RegistrySettings = z.output<z.ZodObject<typeof REGISTRY>>

/** The schema registry, and how connections to it are secured. */
export interface RegistryServer {
  readonly url: string
  readonly login?: { readonly username: string; readonly password: string } | undefined
  /** Certificates of authorities in PEM; those that Node.js knows unless given. */
  readonly ca?: string | undefined
}

/** The registry that the settings lead to. */
export function registryServer(config: RegistrySettings): RegistryServer {
  const { SCHEMA_REGISTRY_USERNAME: username, SCHEMA_REGISTRY_PASSWORD: password = '' } = config
  return {
    url: config.SCHEMA_REGISTRY_URL,
    login: username === undefined ? undefined : { username, password },
    ca: config.SCHEMA_REGISTRY_CA,
  }
}

/** Refuses settings of which only a part is there: such a connection would be less secure than it looks. */
export function refuseIncompleteRegistry(config: Partial<RegistrySettings>, context: z.RefinementCtx): void {
  const refuse = (name: keyof RegistrySettings, message: string) =>
    context.addIssue({ code: 'custom', path: [name], message })
  const { SCHEMA_REGISTRY_URL: url, SCHEMA_REGISTRY_USERNAME, SCHEMA_REGISTRY_PASSWORD, SCHEMA_REGISTRY_CA } = config
  if (SCHEMA_REGISTRY_CA !== undefined && url?.startsWith('http:'))
    refuse('SCHEMA_REGISTRY_URL', 'must begin with https, since SCHEMA_REGISTRY_CA is set')
  if (SCHEMA_REGISTRY_USERNAME === undefined && SCHEMA_REGISTRY_PASSWORD !== undefined)
    refuse('SCHEMA_REGISTRY_USERNAME', 'is missing, and SCHEMA_REGISTRY_PASSWORD is set')
  if (SCHEMA_REGISTRY_USERNAME !== undefined && SCHEMA_REGISTRY_PASSWORD === undefined)
    refuse('SCHEMA_REGISTRY_PASSWORD', 'is missing, and SCHEMA_REGISTRY_USERNAME is set')
}
