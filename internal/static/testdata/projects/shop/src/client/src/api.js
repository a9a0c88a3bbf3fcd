import axios from "axios";

const http = axios.create({
  baseURL: "/api",
  withCredentials: true,
  xsrfCookieName: "XSRF-TOKEN",
  xsrfHeaderName: "X-XSRF-TOKEN",
});

export async function loadReviews(number) {
  const { data } = await http.get(`/parts/${encodeURIComponent(number)}/reviews`);
  return data;
}

export async function searchParts(text, brand) {
  const { data } = await http.get("/parts", { params: { text, brand } });
  return data;
}

export async function sendReview(number, text) {
  await http.post(`/parts/${encodeURIComponent(number)}/reviews`, { text });
}

export async function redeem(orderId, code) {
  const { data } = await http.post(`/orders/${Number(orderId)}/voucher`, null, { params: { code } });
  return data.accepted;
}

export function recentSearches() {
  try {
    const list = JSON.parse(localStorage.getItem("recent") || "[]");
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}

export function remember(text) {
  const list = [text, ...recentSearches().filter((t) => t !== text)].slice(0, 8);
  localStorage.setItem("recent", JSON.stringify(list));
}

export function showSearched(element, words) {
  element.replaceChildren();
  for (const word of words) {
    const item = document.createElement("li");
    item.textContent = word;
    element.append(item);
  }
}

export function markHits(element, name, word) {
  const parts = name.split(word);
  element.innerHTML = parts.join(`<mark>${word}</mark>`);
}
