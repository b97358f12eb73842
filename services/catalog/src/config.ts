import { serviceConfig } from '@backoffice/service/service-config.ts'
import { StorageConfig } from './assets/open-storage.ts'

/** The settings of the catalog. */
export const CatalogConfig = serviceConfig('catalog').extend(StorageConfig.shape)
