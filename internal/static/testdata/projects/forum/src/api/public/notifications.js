(function () {
  'use strict';

  var list = document.getElementById('results');
  var toast = document.getElementById('toast');

  function card(item) {
    var box = document.createElement('div');
    var title = document.createElement('strong');
    title.textContent = item.title;
    box.appendChild(title);
    return box;
  }

  function showToast(text, kind) {
    toast.className = kind === 'error' ? 'toast error' : 'toast';
    toast.innerHTML = '<span>' + text + '</span>';
  }

  function fragment() {
    var pairs = {};
    window.location.hash.slice(1).split('&').forEach(function (part) {
      var at = part.indexOf('=');
      if (at > 0) pairs[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
    });
    return pairs;
  }

  function load(term) {
    fetch('/api/posts/search?text=' + encodeURIComponent(term), { credentials: 'same-origin' })
      .then(function (res) { return res.json(); })
      .then(function (items) {
        list.replaceChildren();
        items.forEach(function (item) { list.appendChild(card(item)); });
      })
      .catch(function () { showToast('Search is not available', 'error'); });
  }

  var notice = fragment().notice;
  if (notice) showToast(notice, fragment().kind);

  var term = new URLSearchParams(window.location.search).get('q');
  if (term) load(term);
})();
