/*
 * What a user of each generated client writes. The arguments are the origin, that of a later version of the API, a key,
 * a product, its new name, and an order. It prints the order's total, and its status in the later version.
 */

export const OPENAPI_FETCH = `
import createClient from 'openapi-fetch'
import type { paths } from './client.ts'

const [origin = '', later = '', key = '', product = '', name = '', order = ''] = process.argv.slice(2)
const client = (baseUrl: string) => createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + key } })
const path = (id: string) => ({ params: { path: { id } } })

const updated = await client(origin).PUT('/v1/products/{id}', { ...path(product), body: { name } })
if (updated.error) throw new Error(updated.error.error.message)
const read = await client(origin).GET('/v1/orders/{id}', path(order))
const grown = await client(later).GET('/v1/orders/{id}', path(order))
const total: number | undefined = read.data?.total_price
if (grown.data?.status !== 'ON_HOLD') throw new Error('another status')
console.log(JSON.stringify({ total, status: grown.data?.status }))
`

export const ORVAL = `
import { getOrder, updateProduct } from './client.ts'

const [origin = '', later = '', key = '', product = '', name = '', order = ''] = process.argv.slice(2)
const send = globalThis.fetch
const use = (base: string) => {
  globalThis.fetch = (path, init) =>
    send(base + path, { ...init, headers: { ...init?.headers, authorization: 'Bearer ' + key } })
}

use(origin)
const updated = await updateProduct(product, { name })
if (updated.status !== 200) throw new Error(updated.data.error.message)
const read = await getOrder(order)
use(later)
const grown = await getOrder(order)
if (read.status !== 200 || grown.status !== 200) throw new Error('the order cannot be read')
if (grown.data.status !== 'ON_HOLD') throw new Error('another status')
console.log(JSON.stringify({ total: read.data.total_price, status: grown.data.status }))
`

export const PYTHON = `
import json, sys
from client import AuthenticatedClient
from client.api.orders import get_order
from client.api.products import update_product
from client.models import Order, Product, ProductUpdate

origin, later, key, product, name, order = sys.argv[1:]
api = AuthenticatedClient(base_url=origin, token=key)
updated = update_product.sync(product, client=api, body=ProductUpdate(name=name))
assert isinstance(updated, Product), updated
read = get_order.sync(order, client=api)
grown = get_order.sync(order, client=AuthenticatedClient(base_url=later, token=key))
assert isinstance(read, Order) and isinstance(grown, Order), grown
print(json.dumps({"total": read.total_price, "status": grown.status}))
`

/** It compiles patterns, and sends the offset of a time without a colon. */
export const PYDANTIC = `
import json, sys
from datetime import datetime, timedelta, timezone
import openapi_client
from openapi_client.models import ProductUpdate

origin, later, key, product, name, order = sys.argv[1:]
def api(host): return openapi_client.ApiClient(openapi_client.Configuration(host=host, access_token=key))
openapi_client.ProductsApi(api(origin)).update_product(product, ProductUpdate(name=name, slug="ring"))
orders = openapi_client.OrdersApi(api(origin))
[read] = orders.list_orders(updated_since=datetime.now(timezone.utc) - timedelta(days=1)).items
grown = openapi_client.OrdersApi(api(later)).get_order(order)
print(json.dumps({"total": read.total_price, "status": grown.status}))
`

export const JAVA = `
import com.google.gson.Gson;
import java.util.Map;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.OrdersApi;
import org.openapitools.client.api.ProductsApi;
import org.openapitools.client.model.ProductUpdate;

public class Program {
  static ApiClient client(String origin, String key) {
    var client = new ApiClient().setBasePath(origin);
    client.setBearerToken(key);
    return client;
  }

  public static void main(String[] args) throws Exception {
    var api = client(args[0], args[2]);
    var order = UUID.fromString(args[5]);
    new ProductsApi(api).updateProduct(UUID.fromString(args[3]), new ProductUpdate().name(args[4]));
    long total = new OrdersApi(api).getOrder(order).getTotalPrice();
    var grown = new OrdersApi(client(args[1], args[2])).getOrder(order);
    System.out.println(new Gson().toJson(Map.of("total", total, "status", grown.getStatus())));
  }
}
`

export const GO = `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	openapi "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func client(origin, key string) *openapi.APIClient {
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: origin}}
	configuration.AddDefaultHeader("Authorization", "Bearer "+key)
	return openapi.NewAPIClient(configuration)
}

func must[Value any](value Value, err error) Value {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	origin, later, key, product, name, id := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6]
	ctx := context.Background()
	api := client(origin, key)
	update := openapi.NewProductUpdate()
	update.SetName(name)
	_, _, err := api.ProductsAPI.UpdateProduct(ctx, product).ProductUpdate(*update).Execute()
	must(0, err)
	// It sends null for the body that is left out.
	_, _, err = api.OrdersAPI.CreateOrderInvoice(ctx, id).Execute()
	must(0, err)
	order, _, err := api.OrdersAPI.GetOrder(ctx, id).Execute()
	var total int64 = must(order, err).TotalPrice
	grown, _, err := client(later, key).OrdersAPI.GetOrder(ctx, id).Execute()
	answer := map[string]any{"total": total, "status": must(grown, err).Status}
	fmt.Println(string(must(json.Marshal(answer))))
}
`
