import { serviceConfig } from '@backoffice/service/service-config.ts'

/** The settings of collections. */
export const CollectionsConfig = serviceConfig('collections')
