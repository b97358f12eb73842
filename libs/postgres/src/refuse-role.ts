import type { Sql } from './database.ts'

interface Role {
  readonly name: string
  readonly isSuperuser: boolean
  readonly bypassesPolicies: boolean
  readonly isOwner: boolean
}

/**
 * Returns why a service must not use the role of a connection; undefined when row level security applies to the role.
 * It does not apply to superusers, to roles with BYPASSRLS and to owners of the tables.
 */
export async function refusalOfRole(sql: Sql): Promise<string | undefined> {
  const [role] = await sql<Role[]>`
    select rolname as name, rolsuper as "isSuperuser", rolbypassrls as "bypassesPolicies",
      exists (
        select from pg_namespace
        left join pg_class on pg_class.relnamespace = pg_namespace.oid and pg_class.relkind in ('r', 'p')
        where nspname = current_schema()
          and (pg_has_role(current_user, nspowner, 'usage') or pg_has_role(current_user, relowner, 'usage'))
      ) as "isOwner"
    from pg_roles where rolname = current_user`
  if (role === undefined) return undefined
  const what = whatIsWrong(role)
  return what && `connects as ${role.name}, ${what}; use the service's own role, which provisioning creates`
}

function whatIsWrong({ isSuperuser, bypassesPolicies, isOwner }: Role): string | undefined {
  if (isSuperuser) return 'a superuser'
  if (bypassesPolicies) return 'which bypasses row level security (BYPASSRLS)'
  if (isOwner) return 'which owns the tables or may act as their owner'
  return undefined
}
