import { serviceConfig } from '@backoffice/service/service-config.ts'
import { z } from 'zod'

/** The settings of imports. */
export const ImportsConfig = serviceConfig('imports').extend({
  /** Signs the token of calls to the services that own the templates: base64 DER PKCS8. */
  INTERNAL_TOKEN_PRIVATE_KEY: z.base64(),
})
