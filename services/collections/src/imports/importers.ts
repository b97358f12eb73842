import type { Importers } from '@backoffice/importing/importer.ts'
import { importCollections } from './import-collections.ts'

/** The import templates of the service (OP-54). */
export const importers: Importers = { collections: importCollections }
