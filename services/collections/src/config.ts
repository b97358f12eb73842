import { AssetsUrl } from '@backoffice/runtime/asset-url.ts'
import { serviceConfig } from '@backoffice/service/service-config.ts'

export const CollectionsConfig = serviceConfig('collections').extend({ ASSETS_URL: AssetsUrl })
