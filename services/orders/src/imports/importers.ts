import type { Importers } from '@backoffice/messaging/importer.ts'
import { importCustomers } from './import-customers.ts'

/** The import templates of the service (OP-54). */
export const importers: Importers = { customers: importCustomers }
